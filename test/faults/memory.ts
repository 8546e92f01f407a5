import { readFileSync, writeFileSync } from 'node:fs';

/** An instance grows by no more, whatever its clients send or leave unread. */
export const MOST_GROWTH_MB = 200;
/** As the image and the unit start an instance. */
export const AS_STARTED = { NODE_OPTIONS: '--max-semi-space-size=16' };

/** Returns a function that tells by how many megabytes the process has grown at most since now. */
export function growthOf(pid: number): () => number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = megabytesOf(pid, 'VmRSS');
  return () => megabytesOf(pid, 'VmHWM') - before;
}

/** `VmRSS` is the current memory of a process, `VmHWM` the peak since the last reset. */
function megabytesOf(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`^${what}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024);
}
