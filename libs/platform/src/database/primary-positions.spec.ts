import { PrimaryPositions } from './primary-positions';

describe('The positions of the primary', () => {
  const aSample = (at: number, position: bigint, timeline = '00000001') => ({ at, position, timeline, cluster: '7' });

  it('tell up to which moment everything was replayed by whoever has come to a place', () => {
    const positions = new PrimaryPositions();
    for (const [at, position] of [
      [1_000, 100n],
      [2_000, 200n],
      [3_000, 200n],
      [4_000, 300n],
    ] as const) {
      expect(positions.add(aSample(at, position))).toBe(false);
    }
    expect([99n, 100n, 199n, 200n, 299n, 300n, 9_999n].map((place) => positions.momentOf(place))).toEqual([
      -Infinity,
      1_000,
      1_000,
      3_000,
      3_000,
      4_000,
      4_000,
    ]);
  });

  it('of a former primary are forgotten', () => {
    const positions = new PrimaryPositions();
    positions.add(aSample(1_000, 100n));
    expect(positions.add(aSample(2_000, 90n, '00000002'))).toBe(true);
    expect([positions.momentOf(89n), positions.momentOf(100n)]).toEqual([-Infinity, 2_000]);
  });
});
