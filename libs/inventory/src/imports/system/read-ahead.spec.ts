import { readAhead } from './read-ahead';

describe('readAhead', () => {
  it('looks a few times at what comes in many chunks, and hands out all of it', async () => {
    const chunks = Array.from({ length: 1_000 }, (_, n) => Buffer.from(`${n} `));
    const find = jest.fn((head: Buffer, isAll: boolean) => (isAll ? head.length : null));

    const { found, bytes } = await readAhead(
      (async function* () {
        yield* chunks;
      })(),
      find,
    );

    const whole = Buffer.concat(chunks);
    expect([found, find.mock.calls.length < 15]).toEqual([whole.length, true]);
    const handed: Buffer[] = [];
    for await (const some of bytes) handed.push(some);
    expect(Buffer.concat(handed)).toEqual(whole);
  });

  it('stops as soon as it knows, and hands out the rest as it comes', async () => {
    const chunks = ['a', 'b\n', 'c', 'd'].map((text) => Buffer.from(text));
    const { found, bytes } = await readAhead(
      (async function* () {
        yield* chunks;
      })(),
      (head) => (head.includes('\n') ? head.toString() : null),
    );

    const handed: string[] = [];
    for await (const some of bytes) handed.push(some.toString());
    expect([found, handed]).toEqual(['ab\n', ['ab\n', 'c', 'd']]);
  });

  it('hands out a long beginning in parts', async () => {
    const { bytes } = await readAhead(
      (async function* () {
        yield await Promise.resolve(Buffer.alloc(150_000));
      })(),
      (head) => head.length,
    );

    const lengths: number[] = [];
    for await (const some of bytes) lengths.push(some.length);
    expect(lengths).toEqual([65_536, 65_536, 18_928]);
  });
});
