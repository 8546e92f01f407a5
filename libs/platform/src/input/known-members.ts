import { getMetadataStorage } from 'class-validator';

export type Dto<Type extends object = object> = new () => Type;

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
