import { shown } from '#libs/kernel';
import type { ImportRecord } from '../domain/import-record';
import type { KnownTagKey } from './import-rows';

/** Limits the length of the reason, however many keys a record has. */
const MOST_NAMED = 20;

/** Names keys, each in quotes. */
function namesOf(keys: readonly string[]): string {
  const named = keys.slice(0, MOST_NAMED).map((key) => JSON.stringify(shown(key)));
  const more = keys.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The reason for refusing a record with these keys. `most`: so many keys a workspace has before an import creates no more. */
export function unknownTagKeys(
  keys: readonly string[],
  most: number | null = null,
): { readonly reason: string; readonly withoutValues: string } {
  const end = most === null ? '.' : `, and an import creates none beyond ${most.toLocaleString('en')}.`;
  const which = namesOf(keys);
  const subject = keys.length === 1 ? `the key ${which} does` : `the keys ${which} do`;
  return {
    reason: `tags: ${subject} not exist in the workspace${end}`,
    withoutValues: `tags: a key does not exist in the workspace${end}`,
  };
}

/** The warning about values that are not those of their customer keys. Null when there are none. */
export function lostTagValues(tags: ImportRecord['tags'], known: ReadonlyMap<string, KnownTagKey>): string | null {
  const lost = tags.filter(({ key, value }) => {
    const tagKey = known.get(key);
    return tagKey?.platform === false && value !== null && value !== '' && value !== tagKey.value;
  });
  const which = namesOf(lost.map(({ key }) => key));
  if (lost.length < 2)
    return lost.length === 0 ? null : `tags: the customer key ${which} has its own value; another was left out.`;
  return `tags: the customer keys ${which} have their own values; others were left out.`;
}
