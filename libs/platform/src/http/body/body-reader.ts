import { type InputFaults, type Place, isLongerThan, isUuid } from '#libs/kernel';

/** A member of a body: `undefined` when it is absent, null when it is null. */
export type ThreeState<Value> = Value | null | undefined;

/**
 * Reads the members of one object of a body. Converts nothing, and records every fault by its JSON pointer. An invalid
 * member reads as absent. The caller throws all faults together.
 */
export class BodyReader {
  private constructor(
    /** Null when there is no object to read, which is already a recorded fault. */
    private readonly members: Readonly<Record<string, unknown>> | null,
    private readonly place: Place,
    private readonly faults: InputFaults,
  ) {}

  /** Reads an object as it is. Records a fault for anything else and reads it as an empty object. */
  static of(value: unknown, place: Place, faults: InputFaults): BodyReader {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return new BodyReader(value as Record<string, unknown>, place, faults);
    }
    faults.addMember(place, 'format', 'must be an object.');
    return new BodyReader(null, place, faults);
  }

  /** Refuses every other member by name. `readable` lists members that responses contain but writes must not. */
  allowOnly(names: { has(name: string): boolean }, readable: readonly string[] = []): void {
    for (const name of Object.keys(this.members ?? {})) {
      if (this.faults.isFull) return;
      if (names.has(name)) continue;
      if (readable.includes(name)) this.refuse(name, 'readonly', 'cannot be written.');
      else this.refuse(name, 'unknown', 'is not a member of this request.');
    }
  }

  refuse(name: string, code: string, what: string): void {
    this.faults.addMember([...this.place, name], code, what);
  }

  /** Records a fault when the member is absent or null. */
  require(name: string): void {
    if (this.members && this.raw(name) == null) this.refuse(name, 'required', 'is required.');
  }

  /** Returns the member as it was sent. */
  raw(name: string): unknown {
    return this.members && Object.hasOwn(this.members, name) ? this.members[name] : undefined;
  }

  /** Reads a text of at most `maxLength` Unicode code points. */
  text(name: string, maxLength: number): ThreeState<string> {
    const value = this.raw(name);
    if (value === undefined || value === null) return value;
    if (typeof value !== 'string') return this.unreadable(name, 'format', 'must be a string.');
    if (isLongerThan(value, maxLength)) {
      return this.unreadable(name, 'length', `must have at most ${maxLength} characters.`);
    }
    return value;
  }

  choice<Value extends string>(name: string, values: readonly Value[]): ThreeState<Value> {
    const value = this.raw(name);
    if (value === undefined || value === null) return value;
    return (
      values.find((one) => one === value) ?? this.unreadable(name, 'choice', `must be one of ${values.join(', ')}.`)
    );
  }

  boolean(name: string): ThreeState<boolean> {
    const value = this.raw(name);
    if (value === undefined || value === null || typeof value === 'boolean') return value;
    return this.unreadable(name, 'format', 'must be true or false.');
  }

  uuid(name: string): ThreeState<string> {
    const value = this.raw(name);
    if (value === undefined || value === null) return value;
    if (typeof value === 'string' && isUuid(value)) return value;
    return this.unreadable(name, 'format', 'must be a UUID.');
  }

  /** Reads an array within the bounds, each item as it was sent. */
  private array(name: string, bounds: { readonly min: number; readonly max: number }): ThreeState<readonly unknown[]> {
    const value = this.raw(name);
    if (value === undefined || value === null) return value;
    if (!Array.isArray(value)) return this.unreadable(name, 'format', 'must be an array.');
    if (value.length < bounds.min || value.length > bounds.max) {
      return this.unreadable(name, 'length', `must have ${bounds.min} to ${bounds.max} entries.`);
    }
    return value as unknown[];
  }

  uuids(name: string, bounds: { readonly min: number; readonly max: number }): ThreeState<readonly unknown[]> {
    const items = this.array(name, bounds);
    for (const [index, item] of (items ?? []).entries()) {
      if (typeof item === 'string' && isUuid(item)) continue;
      this.faults.addMember([...this.place, name, index], 'format', 'is no UUID.');
    }
    return items;
  }

  /** Reads an object. An absent one, and null, read as an empty one. */
  object(name: string): BodyReader {
    return BodyReader.of(this.raw(name) ?? {}, [...this.place, name], this.faults);
  }

  /** Reads an array of objects within the bounds. */
  objects(name: string, bounds: { readonly min: number; readonly max: number }): ThreeState<readonly BodyReader[]> {
    const items = this.array(name, bounds);
    if (items === undefined || items === null) return items;
    return items.map((item, index) => BodyReader.of(item, [...this.place, name, index], this.faults));
  }

  private unreadable(name: string, code: string, what: string): undefined {
    this.refuse(name, code, what);
    return undefined;
  }
}
