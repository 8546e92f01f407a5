import { isLongerThan, isStorable, isUuid, shown } from '#libs/kernel';
import { parseImportTime } from './import-time';

/** Limits the size of the report, however many faults a record has. */
const MOST_REASONS = 20;
const NOTHING: Readonly<Record<string, unknown>> = {};

/**
 * Reads the members of one object strictly and collects faults, up to twenty for each record. Absent and null members
 * read as null.
 */
export class RecordReader {
  private constructor(
    private readonly members: Readonly<Record<string, unknown>>,
    /** Path of the object in its record, for messages, such as `compliance.` */
    readonly path: string,
    readonly reasons: string[],
  ) {}

  static of(value: unknown): RecordReader | null {
    return isObject(value) ? new RecordReader(value, '', []) : null;
  }

  /** True when no further faults are collected. */
  get isFull(): boolean {
    return this.reasons.length >= MOST_REASONS;
  }

  refuse(reason: string): void {
    if (!this.isFull) this.reasons.push(reason);
  }

  require(name: string): void {
    const value = this.members[name];
    if (value === undefined || value === null || value === '') this.refuse(`${this.path}${name} is required.`);
  }

  allowOnly(names: ReadonlySet<string>, category: string | null = null): void {
    if (this.members === NOTHING) return;
    for (const name of Object.keys(this.members)) {
      if (this.isFull) return;
      if (names.has(name) || this.members[name] === null) continue;
      this.refuse(`${this.path}${shown(name)} is not a member${category === null ? '' : ` of ${category} records`}.`);
    }
  }

  /** Reads a text of at most `maxLength` Unicode code points. */
  text(name: string, maxLength: number): string | null {
    const value = this.read(name, 'string', 'a string');
    if (typeof value !== 'string') return null;
    if (isLongerThan(value, maxLength)) this.refuse(`${this.path}${name} is longer than ${maxLength} characters.`);
    if (!isStorable(value)) this.refuse(`${this.path}${name} holds U+0000 or half of a surrogate pair.`);
    return value;
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
  time(name: string): Date | null {
    const value = this.read(name, 'string', 'a date-time');
    if (typeof value !== 'string') return null;
    const time = parseImportTime(value);
    if (time instanceof Date) return time;
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
    return new RecordReader(isObject(value) ? value : NOTHING, `${this.path}${name}.`, this.reasons);
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
      readers.push(new RecordReader(isObject(item) ? item : NOTHING, `${this.path}${name}.${index}.`, this.reasons));
    }
    return readers;
  }

  private read(name: string, type: 'string' | 'boolean' | 'object', expected: string): unknown {
    const value = this.members[name];
    if (value === undefined || value === null) return null;
    if (typeof value === type && !Array.isArray(value)) return value;
    this.refuse(`${this.path}${name} must be ${expected}.`);
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
