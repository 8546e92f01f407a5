import { shown } from '#libs/kernel';

/** Limits the length of the reason, however many keys a record has. */
const MOST_NAMED = 20;

/** The reason for refusing a record with these keys. */
export function unknownTagKeys(keys: readonly string[]): string {
  const named = keys.slice(0, MOST_NAMED).map((key) => JSON.stringify(shown(key)));
  const more = keys.length - named.length;
  const which = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return keys.length === 1
    ? `tags: the key ${which} does not exist in the workspace.`
    : `tags: the keys ${which} do not exist in the workspace.`;
}
