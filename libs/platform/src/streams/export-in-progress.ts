import { DomainError } from '#libs/kernel';

/** The application already reads a stream. */
export class ExportInProgress extends DomainError {
  constructor() {
    super('export_in_progress', 'This application already reads a stream. It can read one at a time.');
  }
}
