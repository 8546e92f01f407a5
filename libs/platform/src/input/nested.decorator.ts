import type { Type } from '@nestjs/common';
import { Type as ConvertTo } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { type Member, check, lengthOf, member } from './member';

/** An object of a body, with the members of a DTO. */
export const Nested = ({ type, ...options }: Member & { readonly type: Type<object> }): PropertyDecorator =>
  member(
    { type, ...options },
    ConvertTo(() => type),
    check({ code: 'format', isValid: (value) => value instanceof type, message: 'must be an object' }),
    ValidateNested(),
  );

/** An array of objects of a body, each with the members of a DTO. */
export const NestedList = ({
  type,
  ...options
}: Member & {
  readonly type: Type<object>;
  readonly minItems?: number;
  readonly maxItems: number;
}): PropertyDecorator =>
  member(
    { type: [type], ...options },
    ConvertTo(() => type),
    check({ code: 'format', isValid: Array.isArray, message: 'must be an array' }),
    lengthOf(options),
    ValidateNested({ message: 'must be an object' }),
  );

/** A member that is documented only to say why it is refused. It must be absent or null. */
export const Refused = ({ reason, ...options }: Member & { readonly reason: string }): PropertyDecorator =>
  member(
    { type: 'string', maxLength: 0, nullable: true, ...options },
    check({ code: 'readonly', isValid: () => false, message: reason }),
  );
