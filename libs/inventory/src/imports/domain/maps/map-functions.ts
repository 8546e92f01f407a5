import { timeText } from './time-text';

/** Gets the values of its arguments, undefined for absent ones. @throws with a sentence that names no value */
export type MapFunction = (...values: readonly unknown[]) => unknown;

/**
 * Texts that makers of computers leave in the firmware instead of a serial number: in lower case, without spaces, dots,
 * hyphens and underscores.
 */
const PLACEHOLDERS = new Set(
  (
    'none null na n/a nil unknown undefined invalid empty default defaultstring oem tobefilledbyoem ' +
    'systemserialnumber chassisserialnumber baseboardserialnumber serialnumber serial notspecified ' +
    'notapplicable notavailable notset notprovided noserial noserialnumber 0123456789 123456789 1234567890 ' +
    '12345678 1234567 123456 12345 0123456789abcdef abcdefghij filledbyoem (nullstring) ' +
    'sn12345 sn1234567890 sys1234567890 mb1234567890'
  ).split(' '),
);

/** The functions that a map has besides those of JSONata. Each returns undefined when there is no value. */
export const MAP_FUNCTIONS: Readonly<Record<string, MapFunction>> = {
  firstOf: (values) => (Array.isArray(values) ? (values as unknown[]) : [values]).find(isGiven),
  serial: serialOf,
  time: timeText,
  tags: tagsOf,
  unescape: unescaped,
};

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined && !(typeof value === 'string' && value.trim() === '');
}

/** Trims a serial number. Undefined for placeholders of firmware, such as "To be filled by O.E.M.", and for `0000`. */
export function serialOf(value: unknown): string | undefined {
  if (!isGiven(value)) return undefined;
  if (typeof value !== 'string' && !Number.isSafeInteger(value)) throw new Error('$serial takes a text.');
  const serial = String(value).trim();
  const plain = serial.toLowerCase().replace(/[\s._-]/g, '');
  return PLACEHOLDERS.has(plain) || isOneCharacter(plain) ? undefined : serial;
}

/** True for an empty text, too. */
const isOneCharacter = (text: string): boolean => text === text.charAt(0).repeat(text.length);

const ESCAPES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#039;': "'",
};

/** Replaces the five escapes of HTML. What they leave is not read again: `&amp;lt;` becomes `&lt;`. */
function unescaped(value: unknown): unknown {
  if (!isGiven(value)) return undefined;
  if (typeof value !== 'string') return value;
  return value.replace(/&(?:amp|lt|gt|quot|#039);/g, (escape) => ESCAPES[escape] ?? escape);
}

/** Reads tags from a list of `{Key, Value}`, an object of keys and values, or a list of keys. */
function tagsOf(value: unknown): { key: string; value?: string }[] | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return (value as unknown[]).map(tagOf);
  if (typeof value !== 'object' || isEntry(value)) return [tagOf(value)];
  return Object.entries(value).map(([key, content]) => tag(key, content));
}

/** JSONata hands over a list that a condition leaves one entry of as this entry. */
const isEntry = (value: object): boolean =>
  [
    ['Key', 'Value'],
    ['key', 'value'],
    ['TagKey', 'TagValue'],
  ].some((members) => members.every((member) => member in value));

function tagOf(entry: unknown): { key: string; value?: string } {
  if (typeof entry === 'string') return tag(entry, null);
  const members = (entry ?? {}) as Readonly<Record<string, unknown>>;
  const key = members['Key'] ?? members['key'] ?? members['TagKey'] ?? members['name'];
  if (typeof key !== 'string') throw new Error('$tags takes a list of keys and values, an object, or a list of texts.');
  return tag(key, members['Value'] ?? members['value'] ?? members['TagValue']);
}

function tag(key: string, value: unknown): { key: string; value?: string } {
  if (value === null || value === undefined || value === '') return { key };
  if (typeof value === 'object') throw new Error('$tags found a value that is neither a text, a number nor a boolean.');
  return { key, value: String(value as string | number | boolean) };
}
