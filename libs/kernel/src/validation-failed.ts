import { DomainError, type InputFault } from './domain-error';
import { cut } from './client-text';

/** Together with the note that there are more faults: a thousand characters. */
const LONGEST_DETAIL = 998;

/** The input is malformed or out of range. `faults` names every invalid member; `detail` lists as many as fit. */
export class ValidationFailed extends DomainError {
  constructor(faults: readonly InputFault[]) {
    super('validation_failed', detailOf(faults) || 'The request is malformed.', faults);
  }
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
