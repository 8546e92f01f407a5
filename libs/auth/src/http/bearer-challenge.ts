import type { DomainError } from '#libs/kernel';
import { TokenMissing } from '../domain/authentication-errors';

export const PROTECTED_RESOURCE_PATH = '.well-known/oauth-protected-resource';

/**
 * Builds the challenge of a refused bearer token (RFC 6750, section 3). It names the metadata of the API, whose address
 * ends in the path of the base URL (RFC 9728, sections 3.1 and 5.1).
 */
export function bearerChallenge(baseUrl: string, parameters: Readonly<Record<string, string>> = {}): string {
  const { origin, pathname } = new URL(baseUrl);
  const metadata = `${origin}/${PROTECTED_RESOURCE_PATH}${pathname.replace(/\/$/, '')}`;
  const all = { realm: 'compliance-api', ...parameters, resource_metadata: metadata };
  return `Bearer ${Object.entries(all)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
}

/** Builds the challenge of a 401. */
export function challengeOf(baseUrl: string, refusal: DomainError): string {
  if (refusal instanceof TokenMissing) return bearerChallenge(baseUrl);
  return bearerChallenge(baseUrl, { error: 'invalid_token', error_description: refusal.detail });
}
