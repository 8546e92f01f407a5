import { cpus, platform, release, totalmem } from 'node:os';

/** The machine of a run. Times are comparable on the same machine only. */
export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGigabytes: number;
  readonly system: string;
  readonly node: string;
}

export function machine(): Machine {
  const [first] = cpus();
  return {
    cores: cpus().length,
    processor: first?.model.trim() ?? 'unknown',
    memoryGigabytes: Math.round(totalmem() / 1e9),
    system: `${platform()} ${release()}`,
    node: process.version,
  };
}
