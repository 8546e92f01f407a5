import { readFileSync, readdirSync } from 'node:fs';
import { type Redis } from 'ioredis';

/** Linux counts the time of a process in hundredths of a second, whatever its kernel ticks. */
const MS_PER_TICK = 10;
/** Of a sum that nobody ends in the middle of. */
const TRIES = 20;

interface ProcessTimes {
  readonly parent: number;
  /** Its own milliseconds of CPU, and those of its children that have ended. */
  readonly own: number;
  readonly ended: number;
}

/** Milliseconds of CPU of a server and the processes it started, since its start. Not a number where there is no /proc. */
export function cpuOfProcesses(server: number): number {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const times = timesOf(server);
    if (!times) return Number.NaN;
    const children = childrenOf(server).reduce((sum, pid) => sum + (timesOf(pid)?.own ?? 0), 0);
    // One that ended meanwhile went over from its own account to the parent's, and may be in neither sum or in both.
    if (timesOf(server)?.ended === times.ended) return times.own + times.ended + children;
  }
  return Number.NaN;
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => timesOf(pid)?.parent === parent);
}

function timesOf(pid: number): ProcessTimes | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // Behind the name in brackets, which may hold anything; the first field there is the third of all.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = (first: number): number => Number(fields[first - 3]) + Number(fields[first - 2]);
  return { parent: Number(fields[1]), own: ticks(14) * MS_PER_TICK, ended: ticks(16) * MS_PER_TICK };
}

/** Milliseconds of CPU of a Redis since its start, by its own account. */
export async function cpuOfRedis(redis: Redis): Promise<number> {
  const text = await redis.info('cpu');
  const seconds = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1]);
  return (seconds('used_cpu_sys') + seconds('used_cpu_user')) * 1_000;
}

/** Bytes in memory of a process now, and the most so far; null when it has ended or there is no /proc. */
export function memoryOf(pid: number): { readonly resident: number; readonly peak: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]);
    const [resident, peak] = [kilobytes('VmRSS') * 1_024, kilobytes('VmHWM') * 1_024];
    return Number.isNaN(resident) ? null : { resident, peak };
  } catch {
    return null;
  }
}
