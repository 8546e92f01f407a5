import { RATE_CLASSES, type RateLimits, SCOPES, type Scope, parseRateLimit } from '#libs/kernel';
import type { LimitsDto } from './application.dto';
import { refuseFields } from './read-fields';

const TEXTS: Readonly<Partial<Record<Scope, string>>> = {
  'all:read': 'reads everything, also what comes later',
  'all:write': 'changes everything that the API can change, and reads nothing',
  'audit:read': 'reads the audit, as a SIEM does',
  'computers:read': 'reads computers with their checks',
  'inventory:read': 'reads assets, tags and sources',
  'inventory:write': 'changes owners, descriptions, classifications and tags, and reads nothing',
  'frameworks:read': 'opens nothing yet',
};
/** Meaning of each scope. A scope without a text is shown by its name alone. */
export const SCOPE_TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  SCOPES.map((scope) => [scope, TEXTS[scope] ?? '']),
);

/** Reads limits as people write them, such as 20/40. @throws `validation_failed` */
export function readLimits(typed: LimitsDto): Partial<RateLimits> {
  const limits = RATE_CLASSES.flatMap((rateClass) => {
    const text = typed[rateClass];
    return text === undefined ? [] : [[rateClass, parseRateLimit(text)] as const];
  });
  const reason = 'Write the requests per minute, a slash and the burst, such as 20/40.';
  refuseFields(Object.fromEntries(limits.map(([rateClass, limit]) => [rateClass, limit === null && reason])));
  return Object.fromEntries(limits);
}
