import { type InputFaults, type Place } from '#libs/kernel';
import type { ValidationError } from 'class-validator';
import { didYouMean } from './did-you-mean';
import { type Dto, isReadOnly, knownTo } from './dto-metadata.decorator';
import { ENTRIES } from './member';

/** Our checks are named after their codes. Those of class-validator are a `format`. */
const OWN_CODES = ['required', 'format', 'length', 'choice', 'readonly'];

interface Found {
  readonly code: string;
  /** Follows the name of the member. */
  readonly what: string;
  /** Indexes of the entries at fault, when it is not the whole array. */
  readonly entries: readonly number[] | null;
}

/** Adds the faults of a query or form, each with its parameter. */
export function addParameterFaults(errors: readonly ValidationError[], faults: InputFaults): void {
  for (const error of errors) {
    const found = faultOf(error);
    if (found) faults.add({ parameter: error.property, code: found.code, detail: `${error.property} ${found.what}` });
  }
}

/** Adds the faults of a body, each with the pointer of its member. */
export function addMemberFaults(errors: readonly ValidationError[], faults: InputFaults, above: Place = []): void {
  for (const error of errors) {
    const place = [...above, Array.isArray(error.target) ? Number(error.property) : error.property];
    const found = faultOf(error);
    if (!found) addMemberFaults(error.children ?? [], faults, place);
    else if (!found.entries) faults.addMember(place, found.code, found.what);
    else for (const entry of found.entries) faults.addMember([...place, entry], found.code, found.what);
  }
}

/** The first check that failed, or null when a member within failed. */
function faultOf({ property, target, value, constraints, contexts }: ValidationError): Found | null {
  const [first] = Object.entries(constraints ?? {});
  if (!first) return null;
  const [name, message] = first;
  if (name === 'whitelistValidation') {
    const dto = target?.constructor as Dto | undefined;
    if (dto && isReadOnly(dto, property)) return { code: 'readonly', what: 'cannot be written.', entries: null };
    const hint = didYouMean(property, dto ? knownTo(dto) : []);
    return { code: 'unknown', what: `is not a member of this request.${hint}`, entries: null };
  }
  const code = OWN_CODES.includes(name) ? name : 'format';
  const what = message.startsWith(`${property} `) ? message.slice(property.length + 1) : message;
  const { atFault } = (contexts?.[ENTRIES] ?? {}) as { atFault?: (value: unknown) => number[] };
  return { code, what: `${what}.`, entries: name === ENTRIES && atFault ? atFault(value) : null };
}
