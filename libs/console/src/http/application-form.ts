import { ClientKeyRefused, CredentialNotAdded, issuerFault, subjectFault } from '#libs/auth/operators';
import { RATE_CLASSES, type RateClass, type RateLimit, SCOPES, type Scope, parseRateLimit } from '#libs/kernel';
import type { LimitsDto } from './application.dto';
import type { FieldErrors, ReadForm } from './read-fields';

const TEXTS: Readonly<Partial<Record<Scope, string>>> = {
  'all:read': 'reads everything, also what comes later',
  'all:write': 'changes everything that the API can change, and reads nothing',
  'audit:read': 'reads the audit, as a SIEM does',
  'computers:read': 'reads computers with their checks',
  'inventory:read': 'reads assets, tags and sources',
  'inventory:write': 'changes owners, descriptions, classifications and tags, and reads nothing',
  'frameworks:read': 'opens nothing yet',
};
/** What each scope opens. A scope without a text is shown by its name alone. */
export const SCOPE_TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  SCOPES.map((scope) => [scope, TEXTS[scope] ?? '']),
);

/** Reads limits as people write them, such as 20/40. */
export function readLimits(typed: LimitsDto): ReadForm<Partial<Record<RateClass, RateLimit>>> {
  const limits: Partial<Record<RateClass, RateLimit>> = {};
  const errors: Record<string, string> = {};
  for (const rateClass of RATE_CLASSES) {
    const text = typed[rateClass];
    if (text === undefined) continue;
    const limit = parseRateLimit(text);
    if (limit) limits[rateClass] = limit;
    else errors[rateClass] = 'Write the requests per minute, a slash and the burst, such as 20/40.';
  }
  return Object.keys(errors).length === 0 ? { fields: limits, errors: null } : { fields: null, errors };
}

/** Returns what is wrong with a trust, or null. */
export function trustFaults(issuer: string, subject: string, baseUrl: string): FieldErrors | null {
  const [ofIssuer, ofSubject] = [issuerFault(issuer, baseUrl, false), subjectFault(subject)];
  if (ofIssuer === null && ofSubject === null) return null;
  return { ...(ofIssuer ? { issuer: ofIssuer } : {}), ...(ofSubject ? { subject: ofSubject } : {}) };
}

/** Adds a credential. Where it cannot be added, returns the reason beside its field. */
export async function refusalAt(field: string, add: () => Promise<unknown>): Promise<FieldErrors | null> {
  try {
    await add();
    return null;
  } catch (error) {
    if (!(error instanceof ClientKeyRefused || error instanceof CredentialNotAdded)) throw error;
    return { [field]: error.message };
  }
}
