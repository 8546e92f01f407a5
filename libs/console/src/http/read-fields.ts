import { DomainError, InputFaults } from '#libs/kernel';
import { InputPipe } from '#libs/platform/input';

/** The sent form, by the field's name. */
export type Typed = Readonly<Record<string, unknown>>;

/** Members of a page that shows a form again: errors beside its fields, and what was typed. */
export interface Refused {
  readonly status: number;
  /** By the field's name. */
  readonly errors: Readonly<Record<string, string>>;
  readonly typed: Typed;
}

export const pipe = new InputPipe();

/** Reads a form. @throws `validation_failed` */
export async function readFields<Fields extends object>(dto: new () => Fields, body: Typed): Promise<Fields> {
  // A browser sends a box for each choice, a query separates them by commas. An empty field is one that was left out. Forms
  // break lines by CR and LF.
  const texts = Object.entries(body as Record<string, string | string[]>)
    .map(([name, value]) => [name, [value].flat().join(',').trim().replaceAll('\r\n', '\n')] as const)
    .filter(([, value]) => value !== '');
  return (await pipe.transform(Object.fromEntries(texts), { type: 'body', metatype: dto })) as Fields;
}

/** Refuses the fields that have a reason. @throws `validation_failed` */
export function refuseFields(reasons: Readonly<Record<string, string | false | null>>): void {
  const faults = new InputFaults();
  for (const [parameter, detail] of Object.entries(reasons))
    if (detail) faults.add({ parameter, code: 'format', detail });
  faults.throwAny();
}

/** Does what a form or query asks for. Where fields are at fault, `showAgain` shows why, and what was typed. */
export async function orShowAgain(
  typed: Typed,
  work: () => Promise<void>,
  showAgain: (refused: Refused) => Promise<void> | void,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    // No other text makes an employee writable.
    const isOfFields =
      error instanceof DomainError && error.faults.length > 0 && error.code !== 'resource_not_writable';
    if (!isOfFields) throw error;
    const errors = Object.fromEntries(error.faults.map(({ parameter = '', detail }) => [parameter, detail]));
    await showAgain({ status: error.code === 'precondition_failed' ? 409 : 400, errors, typed });
  }
}
