import { type Received } from './json-object';
import { Problem } from './problem';
import { type StoredToken } from './token-store';

/** Characters of a token that a header can carry (RFC 6749, appendix A.12, without the space). */
const TOKEN = /^[\x21-\x7E]+$/;

/** Reads the token from the token endpoint's response. Errors do not quote the response. */
export function tokenOf(response: Received, sentAt: number): StoredToken {
  const { access_token, expires_in } = response.parsed;
  if (typeof access_token !== 'string' || !TOKEN.test(access_token)) {
    throw Problem.unexpected(response, 'The token response has no usable access_token.');
  }
  if (typeof expires_in !== 'number' || !(expires_in > 0)) {
    throw Problem.unexpected(response, 'The token response has no expires_in above 0 seconds.');
  }
  return { accessToken: access_token, usableUntil: sentAt + usableSeconds(expires_in) * 1000 };
}

/** A minute less than the lifetime, or a tenth of a short one, so that no token expires in transit. */
function usableSeconds(lifetime: number): number {
  return lifetime - Math.min(60, lifetime / 10);
}
