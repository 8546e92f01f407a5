import { Presets, SingleBar } from 'cli-progress';

export interface Progress {
  /** `portion` is between 0 and 1, or null when the total is unknown. `details` follow the count. */
  show(count: number, portion: number | null, details?: string): void;
  end(): void;
}

const STEPS = 1_000;

/** Shows a progress bar on stderr if it is a terminal, so that logs of scripts stay clean. */
export function createProgress(unit: string): Progress {
  if (!process.stderr.isTTY) return { show: () => undefined, end: () => undefined };
  let bar: SingleBar | null = null;
  return {
    show: (count, portion, details = '') => {
      if (bar === null) {
        const measure = portion === null ? '' : '{bar} {percentage}%  ';
        bar = new SingleBar(
          { format: `${measure}{count} ${unit}{details}`, stream: process.stderr },
          Presets.shades_classic,
        );
        bar.start(STEPS, 0, { count: '0', details });
      }
      bar.update(Math.round((portion ?? 0) * STEPS), { count: count.toLocaleString('en'), details });
    },
    end: () => bar?.stop(),
  };
}
