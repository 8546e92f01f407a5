import { cutAt, isLongerThan, isStorable, isUuid, shown, storable } from '#libs/kernel';
import { parseImportTime } from './import-time';

/** Limits the size of the report, however many faults a record has. */
const MOST_REASONS = 20;
const NOTHING: Readonly<Record<string, unknown>> = {};

/**
 * Reads the members of one object strictly and collects faults and warnings, up to twenty of each for a record. Absent and
 * null members read as null, and so does an empty text in place of a number, a boolean, a time or a named value.
 */
export class RecordReader {
  private constructor(
    private readonly members: Readonly<Record<string, unknown>>,
    /** Path of the object in its record, for messages, such as `compliance.` */
    readonly path: string,
    /** Faults of the record. */
    readonly reasons: string[] = [],
    readonly warnings: string[] = [],
  ) {}

  static of(value: unknown): RecordReader | null {
    return isObject(value) ? new RecordReader(value, '') : null;
  }

  /** True when no further faults are collected. */
  get isFull(): boolean {
    return this.reasons.length >= MOST_REASONS;
  }

  refuse(reason: string): void {
    if (!this.isFull) this.reasons.push(reason);
  }

  warn(warning: string): void {
    if (this.warnings.length < MOST_REASONS) this.warnings.push(warning);
  }

  /** `read` is what was read of the member. */
  require(name: string, read: string | null): void {
    const value = this.members[name];
    if (value === undefined || value === null || value === '' || read === '')
      this.refuse(`${this.path}${name} is required.`);
  }

  allowOnly(names: ReadonlySet<string>, category: string | null = null): void {
    if (this.members === NOTHING) return;
    for (const name of Object.keys(this.members)) {
      if (this.isFull) return;
      if (names.has(name) || this.members[name] === null) continue;
      this.refuse(
        `${this.path}${shown(name) || '""'} is not a member${category === null ? '' : ` of ${category} records`}.`,
      );
    }
  }

  /** Reads a text that counts only as it stands, and refuses what {@link storableText} mends. */
  exactText(name: string): string | null {
    const value = this.readText(name);
    if (value !== null && !isStorable(value))
      this.refuse(`${this.path}${name} holds U+0000 or half of a surrogate pair.`);
    return value;
  }

  /** Reads a text that identifies something, and refuses a longer one. */
  identifier(name: string, maxLength: number): string | null {
    const value = this.storableText(name);
    if (value !== null && isLongerThan(value, maxLength))
      this.refuse(`${this.path}${name} is longer than ${maxLength} characters.`);
    return value;
  }

  /** Reads a text, and cuts it after `maxLength` Unicode code points. It may become empty. */
  text(name: string, maxLength: number): string | null {
    const value = this.storableText(name);
    if (value === null || !isLongerThan(value, maxLength)) return value;
    this.warn(`${this.path}${name} is longer than ${maxLength} characters; the rest was cut off.`);
    return cutAt(value, maxLength);
  }

  /** Reads a text of which only a whole one is of use. A longer one is left out. */
  wholeText(name: string, maxLength: number): string | null {
    const value = this.storableText(name)?.trim() ?? null;
    if (value === null || !isLongerThan(value, maxLength)) return value;
    this.warn(`${this.path}${name} is longer than ${maxLength} characters, and was left out.`);
    return null;
  }

  /** Reads a text of any length. */
  storableText(name: string): string | null {
    const value = this.readText(name);
    if (value === null || isStorable(value)) return value;
    this.warn(`${this.path}${name} held U+0000 or half of a surrogate pair, which was removed.`);
    return storable(value);
  }

  /** Reads true and false, also as a text in any letter case. */
  boolean(name: string): boolean | null {
    const given = this.members[name];
    if (typeof given === 'string' && /^(true|false)$/i.test(given)) return given.length === 'true'.length;
    const value = this.read(name, 'boolean', 'true or false');
    return typeof value === 'boolean' ? value : null;
  }

  choice<Value extends string>(name: string, values: readonly Value[]): Value | null {
    const value = this.read(name, 'string', 'a string');
    if (value === null) return null;
    const known = values.find((candidate) => candidate === value);
    if (known === undefined) this.refuse(`${this.path}${name} must be one of ${values.join(', ')}.`);
    return known ?? null;
  }

  uuid(name: string): string | null {
    const value = this.read(name, 'string', 'a UUID');
    if (typeof value !== 'string') return null;
    if (!isUuid(value)) this.refuse(`${this.path}${name} must be a UUID.`);
    return value.toLowerCase();
  }

  /** Reads a date-time with its offset, as {@link parseImportTime} does, in the years 1 to 9999 in UTC. */
  time(name: string): Date | 'never' | null {
    const value = this.read(name, 'string', 'a date-time');
    if (typeof value !== 'string') return null;
    const time = parseImportTime(value);
    if (time === 'never' || time instanceof Date) return time;
    this.refuse(
      time === null
        ? `${this.path}${name} must be a date-time such as 2026-01-02T03:04:05Z.`
        : `${this.path}${name} has no offset from UTC, such as Z or +02:00.`,
    );
    return null;
  }

  /** Reads an object. An absent one reads as empty. */
  object(name: string): RecordReader {
    const value = this.read(name, 'object', 'an object');
    return this.inner(value, `${this.path}${name}.`);
  }

  objects(name: string): RecordReader[] {
    const value = this.members[name];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.refuse(`${this.path}${name} must be an array.`);
      return [];
    }
    const readers: RecordReader[] = [];
    for (const [index, item] of (value as unknown[]).entries()) {
      if (this.isFull) break;
      if (!isObject(item)) this.refuse(`${this.path}${name}.${index} must be an object.`);
      readers.push(this.inner(item, `${this.path}${name}.${index}.`));
    }
    return readers;
  }

  private inner(value: unknown, path: string): RecordReader {
    return new RecordReader(isObject(value) ? value : NOTHING, path, this.reasons, this.warnings);
  }

  /** A whole number is its digits, if no other number reads the same. */
  private readText(name: string): string | null {
    const value = this.members[name];
    if (typeof value === 'string') return value;
    if (typeof value !== 'number') return this.read(name, 'string', 'a string') as string | null;
    if (Number.isSafeInteger(value)) return String(value);
    const isExact = !Number.isInteger(value);
    this.refuse(`${this.path}${name} must be a string${isExact ? '' : ': the number is too large to be exact'}.`);
    return null;
  }

  private read(name: string, type: 'string' | 'boolean' | 'object', expected: string): unknown {
    const value = this.members[name];
    if (value === undefined || value === null || (value === '' && type !== 'object')) return null;
    if (typeof value === type && !Array.isArray(value)) return value;
    this.refuse(`${this.path}${name} must be ${expected}.`);
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
