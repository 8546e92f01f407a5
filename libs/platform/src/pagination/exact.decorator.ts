import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, ValidateBy } from 'class-validator';
import { isLongerThan, isStorable, isUuid } from '#libs/kernel';

interface ExactOptions {
  readonly description: string;
  readonly example: string;
}

/** A filter by a text that must be equal, of 1 to `maxLength` characters (additions, section 7). */
export function ExactText({
  maxLength = 256,
  ...shown
}: ExactOptions & { readonly maxLength?: number }): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'string', minLength: 1, maxLength, ...shown }),
    IsOptional(),
    ValidateBy({
      name: 'exactText',
      validator: {
        validate: (value) => typeof value === 'string' && !isLongerThan(value, maxLength) && isStorable(value),
        defaultMessage: (context) =>
          `${context?.property} must be 1 to ${maxLength} characters, without U+0000 and lone surrogates`,
      },
    }),
  );
}

/** A filter by an id. */
export function ExactId(shown: ExactOptions): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'string', format: 'uuid', ...shown }),
    IsOptional(),
    ValidateBy({
      name: 'exactId',
      validator: {
        validate: (value) => typeof value === 'string' && isUuid(value),
        defaultMessage: (context) => `${context?.property} must be a UUID`,
      },
    }),
  );
}
