/** The most that one import may hide of a source: a number of assets, or a share of the visible ones in percent. */
export type HideLimit = { readonly assets: number } | { readonly percent: number };

/** The rule of {@link parseHideLimit}, for people. */
export const HIDE_LIMIT_RULE = 'Give a number of assets, as 50, or a share of 0% to 100%.';

/** Reads a limit as people write it, such as 50 or 10%. Returns null for anything else. */
export function parseHideLimit(text: string): HideLimit | null {
  const [, digits = '', sign] = /^(\d{1,9}|\d{1,2}\.\d{1,3}(?=%))(%?)$/.exec(text) ?? [];
  const amount = Number(digits);
  if (digits === '' || (sign === '%' && amount > 100)) return null;
  return sign === '%' ? { percent: amount } : { assets: amount };
}

/** Hiding may take so much without being asked for: more is either a broken export or a decision. */
const USUAL_PERCENT = 20;
const USUAL_ASSETS = 20;

/** The limit as the page of an upload names it, and as the command does. */
const LIMIT = '"hide at most" (--hide-at-most)';

/** The removals of an import with `--missing hide`. */
interface Removal {
  /** Visible assets of the source before the import. */
  readonly visible: number;
  /** Those that the input does not name. */
  readonly missing: number;
  /** Whether the input names any asset at all. */
  readonly named: boolean;
}

/** Returns why a removal is not plausible, as a sentence for people, or null when it is. */
export function whyImplausible({ visible, missing, named }: Removal, limit: HideLimit | null): string | null {
  if (missing === 0) return null;
  const would = `${missing} of the ${visible} visible assets of the source would be hidden`;
  if (!named)
    return `The input named no asset, so all ${visible} visible assets of the source would be hidden. Check the export.`;
  if (limit !== null && 'assets' in limit) {
    return missing <= limit.assets ? null : `${would}, but ${LIMIT} allows only ${limit.assets}.`;
  }
  const percent = limit?.percent ?? USUAL_PERCENT;
  // Whole numbers, as a limit has three decimals at most: 9.2 * 750 is less than 6900.
  if (missing * 100_000 <= Math.round(percent * 1_000) * visible) return null;
  if (limit !== null) return `${would}, but ${LIMIT} allows only ${percent}%.`;
  if (missing < USUAL_ASSETS) return null;
  return `${would}, more than ${USUAL_PERCENT} %; if that is right, set ${LIMIT} to ${missing}.`;
}
