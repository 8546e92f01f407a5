import { InvalidArgumentError, Option } from 'commander';
import type { Scope } from '#libs/kernel';
import { collect } from './options';

/** Written out, so that help and usage errors load no library. The type checks that the list is complete. */
const SCOPES = Object.keys({
  'all:read': true,
  'all:write': true,
  'audit:read': true,
  'computers:read': true,
  'inventory:read': true,
  'inventory:write': true,
  'frameworks:read': true,
} satisfies Record<Scope, true>);

/** The option `--scope`, once for each scope and at least once. */
export const scopeOption = (): Option =>
  new Option('--scope <scope>', `a scope to grant; repeat the option for each: ${SCOPES.join(', ')}`)
    .argParser(collect(parseScope))
    .makeOptionMandatory();

function parseScope(value: string): Scope {
  if (SCOPES.includes(value)) return value as Scope;
  throw new InvalidArgumentError(`Scopes are ${SCOPES.join(', ')}.`);
}
