import { recordingTimes } from './audit-chain';

const at = (second: number): Date => new Date(second * 1_000);

describe('Recording times of audit events', () => {
  it('never fall although clocks of instances differ', () => {
    expect(recordingTimes(at(10), [at(9), at(12), at(11), at(13)])).toEqual([at(10), at(12), at(12), at(13)]);
    expect(recordingTimes(null, [at(9)])).toEqual([at(9)]);
  });
});
