const MOST_EDITS = 2;

/** Asks for the known name that is nearest to an unknown one. Empty when none is close. */
export function didYouMean(unknown: string, known: Iterable<string>): string {
  let [nearest, fewest] = ['', MOST_EDITS + 1];
  for (const name of known) {
    const edits = plain(name) === plain(unknown) ? 0 : editsBetween(unknown, name);
    if (edits < fewest && 2 * edits < name.length) [nearest, fewest] = [name, edits];
  }
  return nearest === '' ? '' : ` Did you mean ${nearest}?`;
}

const plain = (name: string): string => name.toLowerCase().replaceAll('_', '');

/** Insertions, deletions, replacements and swaps of neighbours. Names of too different lengths are not compared. */
function editsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MOST_EDITS) return Infinity;
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (last[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwap ? (before[j - 2] as number) + 1 : Infinity;
      row.push(Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, replaced, swapped));
    }
    [before, last] = [last, row];
  }
  return last[other.length] as number;
}
