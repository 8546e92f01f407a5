import { RandomPieces } from './random-pieces';

describe('RandomPieces', () => {
  it('returns pieces of one size, none of them twice, however many are requested', () => {
    const pieces = new RandomPieces(12);
    const seen = new Set<string>();
    for (let count = 0; count < 1_000; count += 1) {
      const piece = pieces.next();
      expect(piece).toHaveLength(12);
      seen.add(piece.toString('hex'));
    }
    expect(seen.size).toBe(1_000);
  });
});
