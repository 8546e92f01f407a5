import { medianRatio } from '../statistics';
import { DEPTHS, type Depth } from './depths';

/** The pages of one filter in a workspace of one size. */
export interface Timed {
  /** In milliseconds, one for each round. */
  readonly times: readonly number[];
  /** On its page: fewer than fit where fewer match. */
  readonly items: number;
}

/** By depth, the smallest workspace first. */
export type BySize = readonly Readonly<Record<Depth, Timed>>[];

const ratio = (of: Timed, to: Timed): number =>
  of.times.length === 0 || to.times.length === 0 ? Number.NaN : medianRatio(of.times, to.times);

/**
 * The worst depth of the largest workspace against the smallest whose page there has as many items. Null where
 * there is none to hold any page against.
 */
export function ratioBySize(pages: BySize): number | null {
  const [largest, ...others] = [...pages].reverse();
  const ratios = DEPTHS.flatMap((depth) => {
    const like = others.findLast((one) => one[depth].items === largest?.[depth].items);
    return largest && like ? [ratio(largest[depth], like[depth])] : [];
  });
  return ratios.length === 0 ? null : Math.max(...ratios);
}

/** The last page of the largest workspace against its first. */
export function ratioByDepth(pages: BySize): number {
  const largest = pages.at(-1);
  return largest ? ratio(largest.last, largest.first) : Number.NaN;
}

/** Pages at random of the largest workspace against those of the smallest. Null where one has too few to be timed. */
export function ratioAtRandom(times: readonly (readonly number[] | undefined)[]): number | null {
  const [smallest, largest] = [times[0], times.at(-1)];
  return times.length > 1 && smallest && largest ? medianRatio(largest, smallest) : null;
}

/** The most of what could be compared; not a number where nothing could, or where a measurement is missing. */
export function worstOf(ratios: readonly (number | null)[]): number {
  const compared = ratios.filter((ratio) => ratio !== null);
  return compared.length === 0 ? Number.NaN : Math.max(...compared);
}
