import { readFileSync, readdirSync } from 'node:fs';
import { type Redis } from 'ioredis';

/** Linux counts the time of a process in steps of ten milliseconds, whatever its kernel's tick. */
const MS_PER_TICK = 10;
/** Attempts to add up the times while no process ends. */
const TRIES = 20;

interface ProcessTimes {
  readonly parent: number;
  /** CPU milliseconds of the process and of its ended children. */
  readonly own: number;
  readonly ended: number;
}

/** Returns the CPU milliseconds of a server and its child processes since its start. NaN without /proc. */
export function cpuOfProcesses(server: number): number {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const times = timesOf(server);
    if (!times) return Number.NaN;
    const children = childrenOf(server).reduce((sum, pid) => sum + (timesOf(pid)?.own ?? 0), 0);
    // The time of a child that ended meanwhile moves to its parent, so it may be counted twice or not at all.
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
  // After the name in brackets, which may contain anything. The first field there is the third overall.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = (first: number): number => Number(fields[first - 3]) + Number(fields[first - 2]);
  return { parent: Number(fields[1]), own: ticks(14) * MS_PER_TICK, ended: ticks(16) * MS_PER_TICK };
}

/** Returns the CPU milliseconds of a Redis since its start, as it reports them. */
export async function cpuOfRedis(redis: Redis): Promise<number> {
  const text = await redis.info('cpu');
  const seconds = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1]);
  return (seconds('used_cpu_sys') + seconds('used_cpu_user')) * 1_000;
}

/** Returns the current and the peak memory of a process in bytes. Null after its end or without /proc. */
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
