import { Continuity } from './continuity';

describe('The continuity of a node', () => {
  let now = 0;
  let continuity: Continuity;
  beforeEach(() => {
    now = 0;
    continuity = new Continuity(() => now);
  });

  it('has no beginning where it was never broken off: a first connection is no return', () => {
    continuity.isThere('a');
    now = 1_000;
    expect(continuity.of('a')).toBe(Infinity);
  });

  it('is none while it is broken off, however long, and counts from the return', () => {
    continuity.breakOff('a');
    now = 5_000;
    expect(continuity.of('a')).toBe(0);
    continuity.isThere('a');
    expect(continuity.of('a')).toBe(0);
    now = 6_500;
    expect(continuity.of('a')).toBe(1_500);
  });

  it('begins anew with each return, and where something else says so', () => {
    continuity.beginAnew('a');
    now = 3_000;
    continuity.isThere('a');
    expect(continuity.of('a')).toBe(0);
    now = 4_000;
    continuity.beginAnew('a');
    expect(continuity.of('a')).toBe(0);
  });

  it('is of each node by itself', () => {
    continuity.breakOff('a');
    expect([continuity.of('a'), continuity.of('b')]).toEqual([0, Infinity]);
  });
});
