import { applyDecorators } from '@nestjs/common';
import { MAX_EXTERNAL_ID_BYTES, isLongerThan, isStorable, plusHint } from '#libs/kernel';
import { type Member, check, member } from './member';

/** For the contract: a text of a body holds no U+0000. */
export const STORABLE = '^[^\\u0000]*$';

interface TextOptions extends Member {
  readonly minLength?: number;
  /** In Unicode code points. */
  readonly maxLength: number;
  readonly pattern?: string;
}

/** A text of at most so many Unicode code points, without U+0000 and lone surrogates. */
export function Text(options: TextOptions): PropertyDecorator {
  const { minLength = 0, maxLength } = options;
  return member(
    { type: 'string', ...options },
    check({
      code: 'format',
      isValid: (value) => typeof value === 'string' && isStorable(value),
      message: 'must be a string without U+0000 and lone surrogates',
    }),
    check({
      code: 'length',
      isValid: (value) => (value as string).length >= minLength && !isLongerThan(value as string, maxLength),
      message:
        minLength === 0
          ? `must have at most ${maxLength} characters`
          : `must have ${minLength} to ${maxLength} characters`,
    }),
  );
}

/** A filter by a text that must be equal. */
export const ExactText = (options: Member & { readonly maxLength?: number }): PropertyDecorator =>
  Text({ minLength: 1, maxLength: 256, ...options });

/** A filter by an external id, which is as long as an import takes it: up to 2,048 bytes. */
export const ExactExternalId = (options: Member): PropertyDecorator =>
  applyDecorators(
    ExactText({ maxLength: MAX_EXTERNAL_ID_BYTES, ...options }),
    check({
      code: 'length',
      isValid: (value) => Buffer.byteLength(value as string) <= MAX_EXTERNAL_ID_BYTES,
      message: `must have 1 to ${MAX_EXTERNAL_ID_BYTES} bytes`,
    }),
  );

/** A text that its reader checks, such as a cursor or a secret. */
export const OpaqueText = (options: Member & Readonly<Record<string, unknown>>): PropertyDecorator =>
  member({ type: 'string', ...options });

/** A filter by an e-mail address, which has no space. */
export const ExactEmail = (options: Member): PropertyDecorator =>
  applyDecorators(
    Text({ minLength: 1, maxLength: 256, pattern: '^[^ ]+$', ...options }),
    check({
      code: 'format',
      isValid: (value) => !(value as string).includes(' '),
      message: (sent) => `must have no spaces${plusHint(sent as string)}`,
    }),
  );
