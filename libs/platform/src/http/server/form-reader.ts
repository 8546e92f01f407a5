import { DomainError } from '#libs/kernel';
import express, { type Request, type Response } from 'express';

/** More than any page has. */
const MOST_FIELDS = 300;
/** Time for the whole form to arrive. Its server may give a request much longer. */
const FORM_MS = 10_000;

/**
 * Returns a reader of forms of at most this length, which sets `request.body`. It reads no body of another kind. It throws
 * `validation_failed` for a form that does not arrive completely within ten seconds.
 */
export function formReader(limit: string): (request: Request, response: Response) => Promise<void> {
  const read = express.urlencoded({ extended: false, limit, parameterLimit: MOST_FIELDS });
  return (request, response) =>
    new Promise((resolve, reject) => {
      const refuse = (): void => reject(new DomainError('validation_failed', 'The form did not arrive in time.'));
      const late = setTimeout(refuse, FORM_MS);
      read(request, response, (error?: Error) => {
        clearTimeout(late);
        if (error) reject(error);
        else resolve();
      });
    });
}
