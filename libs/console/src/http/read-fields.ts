import { type DomainError, ValidationFailed } from '#libs/kernel';
import { InputPipe } from '#libs/platform/input';

/** What was wrong with each field, for people, by the field's name. */
export type FieldErrors = Readonly<Record<string, string>>;

/** What a form sent, by the field's name. */
export type Typed = Readonly<Record<string, unknown>>;

/** Errors beside the fields of a form, and what was typed. */
export interface Refused {
  readonly errors: FieldErrors;
  readonly typed: Typed;
}

/** A form as it was read, or what was wrong with it. */
export type ReadForm<Fields> =
  { readonly fields: Fields; readonly errors: null } | { readonly fields: null; readonly errors: FieldErrors };

const pipe = new InputPipe();

/** Reads a form. What is wrong stands beside its field, so it is no failure of the request. */
export async function readFields<Fields extends object>(
  dto: new () => Fields,
  body: unknown,
): Promise<ReadForm<Fields>> {
  try {
    const fields = (await pipe.transform(asTexts(body), { type: 'body', metatype: dto })) as Fields;
    return { fields, errors: null };
  } catch (error) {
    if (!(error instanceof ValidationFailed)) throw error;
    return { fields: null, errors: errorsOf(error) };
  }
}

/** A browser sends a box for each choice, a query separates them by commas; an empty field is one that was left out. */
const asTexts = (body: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries((body ?? {}) as Record<string, string | string[]>)
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value.trim()] as const)
      .filter(([, value]) => value !== ''),
  );

/** The errors by field. */
export const errorsOf = ({ faults }: DomainError): FieldErrors =>
  Object.fromEntries(
    faults.map(({ parameter, pointer, detail }) => [
      parameter ?? pointer?.split('/').find((step) => step !== '') ?? '',
      detail,
    ]),
  );
