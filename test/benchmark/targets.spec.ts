import { TARGETS, type Target, formatVerdicts, judge } from './targets';

const TWO: Readonly<Record<string, Target>> = {
  cost: { benchmark: 'paths', what: 'cost', bound: { atMost: 1.6 } },
  speed: { benchmark: 'paths', what: 'speed', bound: { atLeast: 0.5 }, unit: 'MB' },
};
const metBy = (measured: Readonly<Record<string, number>>) => judge(TWO, measured).map(({ met }) => met);

describe('A target', () => {
  it('holds up to its bound and not beyond', () => {
    expect(metBy({ cost: 1.6, speed: 0.5 })).toEqual([true, true]);
    expect(metBy({ cost: 1.61, speed: 0.49 })).toEqual([false, false]);
  });

  it('is not met when nothing was measured', () => {
    expect(judge(TWO, { cost: 1 })).toEqual([
      expect.objectContaining({ name: 'cost', measured: 1, met: true }),
      expect.objectContaining({ name: 'speed', measured: null, met: false }),
    ]);
  });

  it('is missed when the result is not a number', () => {
    expect(metBy({ cost: Number.NaN, speed: Number.NaN })).toEqual([false, false]);
  });

  it('is printed with its result, and the number of met targets comes last', () => {
    expect(formatVerdicts(judge(TWO, { cost: 1.234 })).split('\n')).toEqual([
      'met     cost: 1.23 (at most 1.6)',
      '-       speed: not measured (at least 0.5 MB)',
      '',
      '1 of 2 targets are met.',
    ]);
    expect(formatVerdicts(judge(TWO, { cost: 2 }))).toMatch(/^MISSED {2}cost: 2 /);
    expect(formatVerdicts(judge(TWO, { cost: 1, speed: 1 }))).toMatch(/Every target is met\.$/);
  });

  it('has a unique name', () => {
    const words = Object.values(TARGETS).map(({ what }) => what);
    expect(new Set(words).size).toBe(words.length);
  });
});
