import { ValidationFailed } from '#libs/kernel';
import { InputPipe } from '#libs/platform/input';

/** What was wrong with each field, for people, by the field's name. */
export type FieldErrors = Readonly<Record<string, string>>;

const pipe = new InputPipe();

/** Reads a form. What is wrong stands beside its field, so it is no failure of the request. */
export async function readFields<Fields extends object>(
  dto: new () => Fields,
  body: unknown,
): Promise<
  { readonly fields: Fields; readonly errors: null } | { readonly fields: null; readonly errors: FieldErrors }
> {
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

/** The errors of fields, as a form shows them. */
export function errorsOf({ faults }: ValidationFailed): FieldErrors {
  return Object.fromEntries(
    faults.map(({ parameter, pointer, detail }) => {
      const field = parameter ?? pointer?.split('/').find((step) => step !== '') ?? '';
      return [field, detail.replace(/^\S+ (must|is|has)/, (_, verb: string) => `This field ${verb}`)];
    }),
  );
}
