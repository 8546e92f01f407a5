import { SetMetadata } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';

export type Dto<Type extends object = object> = new () => Type;

const READ_ONLY = 'input:read-only';
const FORM = 'input:form';

/** Names members that responses contain, and that clients may try to send back. They are refused as `readonly`. */
export const ReadOnlyMembers = (names: readonly string[]) => SetMetadata(READ_ONLY, names);

export const isReadOnly = (dto: object, name: string): boolean =>
  ((Reflect.getMetadata(READ_ONLY, dto) as readonly string[] | undefined) ?? []).includes(name);

/** A form: its members are texts, may be empty, and unknown ones are ignored (RFC 6749, 3.2). */
export const Form = () => SetMetadata(FORM, true);

export const isForm = (dto: object): boolean => Reflect.hasMetadata(FORM, dto);

const KNOWN = new WeakMap<Dto, ReadonlySet<string>>();

/** The members that a DTO declares. */
export function knownTo(dto: Dto): ReadonlySet<string> {
  let names = KNOWN.get(dto);
  if (!names) {
    const checks = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    names = new Set(checks.map(({ propertyName }) => propertyName));
    KNOWN.set(dto, names);
  }
  return names;
}
