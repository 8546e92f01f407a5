import { DomainError, type InputFault } from './domain-error';

/** The input is malformed or out of range; `faults` names each member that is. */
export class ValidationFailed extends DomainError {
  constructor(faults: readonly InputFault[]) {
    super('validation_failed', faults.map((fault) => fault.detail).join(' ') || 'The request is malformed.', faults);
  }
}
