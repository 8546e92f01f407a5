import { type Recorded, type Recording, merge, verdictsOf } from './recording';
import { TARGETS } from './targets';

const machine = { cores: 2, processor: 'x', memoryGigabytes: 8, system: 'linux', node: 'v20.0.0' };
const recorded = (measured: Recorded['measured'] = {}): Recorded => ({ size: 'reduced', measurements: [], measured });
const recording = (benchmarks: Recording['benchmarks']): Recording => ({ machine, benchmarks });

describe('A recording', () => {
  it('replaces earlier results of the same benchmarks and keeps the others', () => {
    const older = recording({ paths: recorded({ 'list-cpu': 1 }), auth: recorded() });
    const newer = recording({ paths: recorded({ 'list-cpu': 2 }) });
    expect(merge(older, newer)).toEqual(recording({ paths: recorded({ 'list-cpu': 2 }), auth: recorded() }));
  });

  it('drops results of another machine', () => {
    const older = { ...recording({ auth: recorded() }), machine: { ...machine, cores: 64 } };
    const newer = recording({ paths: recorded() });
    expect(merge(older, newer)).toEqual(newer);
    expect(merge(null, newer)).toEqual(newer);
  });

  it('is judged by every target, or by the targets of the benchmarks that ran', () => {
    const one = recording({ auth: recorded({ 'guards-cpu': 1 }) });
    expect(verdictsOf(one, 'all')).toHaveLength(Object.keys(TARGETS).length);
    expect(verdictsOf(one, 'run').map(({ name, met }) => [name, met])).toEqual([
      ['guards-express', false],
      ['guards-cpu', true],
    ]);
  });
});
