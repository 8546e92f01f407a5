import type { InputFault } from './domain-error';
import { cut, shown } from './shown-text';
import { ValidationFailed } from './validation-failed';

/** So many faults say enough; an answer must not grow with what was sent. */
const MOST_FAULTS = 20;
const LONGEST_POINTER = 200;

/** Where in a body something stands: member names and indexes from the root on. */
export type Place = readonly (string | number)[];

/** What is found at fault in one input, to be thrown all at once. Beyond the first twenty nothing more is looked for. */
export class InputFaults {
  private readonly found: InputFault[] = [];

  get isFull(): boolean {
    return this.found.length >= MOST_FAULTS;
  }

  add(fault: InputFault): void {
    if (!this.isFull) this.found.push(fault);
  }

  /** A member of the body, by its pointer (RFC 6901), which is cut where it is too long to be shown. */
  addMember(place: Place, code: string, what: string): void {
    if (this.isFull) return;
    const pointer = place.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const name = place.length === 0 ? 'The body' : shown(String(place.at(-1)));
    this.found.push({ pointer: cut(pointer, LONGEST_POINTER), code, detail: `${name} ${what}` });
  }

  /** Throws `validation_failed` if anything was found. */
  throwAny(): void {
    if (this.found.length > 0) throw new ValidationFailed(this.found);
  }
}
