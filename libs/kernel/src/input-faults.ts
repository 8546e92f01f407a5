import { cut, shown } from './client-text';
import { DomainError, type InputFault } from './domain-error';

/** Limits the size of the response, however much the client sent. */
const MOST_FAULTS = 20;
const LONGEST_POINTER = 200;
/** Together with the note that there are more faults: a thousand characters. */
const LONGEST_DETAIL = 998;

/** The input is malformed or out of range. `faults` names every invalid member; `detail` lists as many as fit. */
export class ValidationFailed extends DomainError {
  constructor(faults: readonly InputFault[]) {
    super('validation_failed', detailOf(faults) || 'The request is malformed.', faults);
  }
}

/** A path into a body: member names and indexes from the root on. */
export type Place = readonly (string | number)[];

/** The members or entries of a value, each with the last step of its place. */
export const stepsInto = (value: object): [string | number, unknown][] =>
  Array.isArray(value) ? [...value.entries()] : Object.entries(value);

/** Collects the faults of one input, so that all are thrown together. Ignores faults after the first twenty. */
export class InputFaults {
  private readonly found: InputFault[] = [];

  get all(): readonly InputFault[] {
    return this.found;
  }

  get isFull(): boolean {
    return this.found.length >= MOST_FAULTS;
  }

  add(fault: InputFault): void {
    if (!this.isFull) this.found.push(fault);
  }

  /** Adds a member of the body by its pointer (RFC 6901). Cuts a pointer that is too long to show. `name` is for people. */
  addMember(place: Place, code: string, what: string, name = nameOf(place)): void {
    if (this.isFull) return;
    const pointer = place.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    this.found.push({ pointer: cut(pointer, LONGEST_POINTER), code, detail: `${name} ${what}` });
  }

  /** Throws `validation_failed` if anything was found. */
  throwAny(): void {
    if (this.found.length > 0) throw new ValidationFailed(this.found);
  }
}

function nameOf(place: Place): string {
  const last = place.at(-1);
  if (last === undefined) return 'The body';
  return typeof last === 'number' ? `Entry ${last} of ${shown(String(place.at(-2)))}` : shown(last);
}

function detailOf(faults: readonly InputFault[]): string {
  let told = '';
  for (const { detail } of faults) {
    const longer = told === '' ? detail : `${told} ${detail}`;
    if (longer.length > LONGEST_DETAIL) return told === '' ? cut(detail, LONGEST_DETAIL) : `${told} …`;
    told = longer;
  }
  return told;
}
