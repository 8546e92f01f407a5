import { medianRatio } from '../statistics';
import { DEPTHS, type Depth } from './depths';

/** The pages of one filter in a workspace of one size. */
export interface Timed {
  /** In milliseconds, one for each round. */
  readonly times: readonly number[];
  /** Items on the page: fewer than its size when fewer match. */
  readonly items: number;
}

/** By depth, smallest workspace first. */
export type BySize = readonly Readonly<Record<Depth, Timed>>[];

const ratio = (of: Timed, to: Timed): number =>
  of.times.length === 0 || to.times.length === 0 ? Number.NaN : medianRatio(of.times, to.times);

/**
 * Compares the largest workspace, at its slowest depth, with the smallest one that has as many items on the page there.
 * Null without any comparable page.
 */
export function ratioBySize(pages: BySize): number | null {
  const [largest, ...others] = [...pages].reverse();
  const ratios = DEPTHS.flatMap((depth) => {
    const like = others.findLast((one) => one[depth].items === largest?.[depth].items);
    return largest && like ? [ratio(largest[depth], like[depth])] : [];
  });
  return ratios.length === 0 ? null : Math.max(...ratios);
}

/** Compares the last page of the largest workspace with its first. */
export function ratioByDepth(pages: BySize): number {
  const largest = pages.at(-1);
  return largest ? ratio(largest.last, largest.first) : Number.NaN;
}

/** Compares random pages of the largest workspace with those of the smallest. Null when one has too few. */
export function ratioAtRandom(times: readonly (readonly number[] | undefined)[]): number | null {
  const [smallest, largest] = [times[0], times.at(-1)];
  return times.length > 1 && smallest && largest ? medianRatio(largest, smallest) : null;
}

/** Returns the largest comparable ratio. NaN when none is comparable or a measurement is missing. */
export function worstOf(ratios: readonly (number | null)[]): number {
  const compared = ratios.filter((ratio) => ratio !== null);
  return compared.length === 0 ? Number.NaN : Math.max(...compared);
}
