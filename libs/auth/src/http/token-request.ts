import type { Request } from 'express';
import {
  AuthorizationDuplicated,
  GrantTypeUnsupported,
  ParameterMissing,
  TokenRequestInvalid,
} from '../domain/token-request-errors';
import { JWT_BEARER, type Proof } from '../domain/client-assertion';
import { ClientNotAuthenticated } from '../domain/authentication-errors';
import type { TokenRequestDto } from './token-request.dto';

const BASIC = /^basic +([A-Za-z0-9+/]+=*)$/i;

export interface TokenRequest {
  /** Null when the assertion names it. */
  readonly clientId: string | null;
  readonly proof: Proof;
  /** Null when absent. An empty one counts as sent. */
  readonly audience: string | null;
  /** Null asks for everything granted. */
  readonly scopes: readonly string[] | null;
}

export const usesBasic = (request: Request): boolean => /^basic(\s|$)/i.test(request.headers.authorization ?? '');

/**
 * Reads a token request from its form and headers. Refuses another grant, two Authorization headers, credentials in the
 * query string, a secret in two places, and a secret beside an assertion.
 */
export function toTokenRequest(request: Request, form: TokenRequestDto): TokenRequest {
  if ((request.headersDistinct['authorization'] ?? []).length > 1) throw new AuthorizationDuplicated();
  for (const name of ['client_id', 'client_secret', 'client_assertion']) {
    if (name in request.query)
      throw new TokenRequestInvalid(name, `${name} must be in the form, not in the query string.`);
  }
  if (form.grant_type === '') throw new ParameterMissing('grant_type');
  if (form.grant_type !== 'client_credentials') throw new GrantTypeUnsupported();
  const scope = (form.scope ?? '').split(' ').filter((name) => name !== '');
  return {
    audience: form.audience ?? null,
    scopes: scope.length > 0 ? [...new Set(scope)] : null,
    ...credentials(request, form),
  };
}

function credentials(request: Request, form: TokenRequestDto): Pick<TokenRequest, 'clientId' | 'proof'> {
  const { client_assertion: assertion, client_assertion_type: type } = form;
  if (assertion === undefined && type === undefined) {
    return usesBasic(request) ? basicCredentials(request, form) : formCredentials(form);
  }
  // RFC 6749, 2.3: one method in each request.
  if (form.client_secret || usesBasic(request)) {
    throw new TokenRequestInvalid('client_assertion', 'The client proves itself by a secret and by an assertion.');
  }
  // RFC 7521, 4.2.
  if (type !== JWT_BEARER) {
    throw new TokenRequestInvalid('client_assertion_type', `client_assertion_type must be ${JWT_BEARER}.`);
  }
  if (!assertion) throw new ParameterMissing('client_assertion');
  return { clientId: form.client_id || null, proof: { assertion } };
}

function formCredentials({ client_id: clientId, client_secret: clientSecret }: TokenRequestDto) {
  if (!clientId) throw new ParameterMissing('client_id');
  if (!clientSecret) throw new ParameterMissing('client_secret');
  return { clientId, proof: { secret: clientSecret } };
}

/**
 * Parses HTTP Basic. Both halves are form-encoded (RFC 6749, 2.3.1). Stock clients repeat the client id in the form; it
 * must then be the same. Empty credentials in the form count as absent (RFC 6749, 3.2).
 */
function basicCredentials(request: Request, form: TokenRequestDto) {
  if (form.client_secret) {
    throw new TokenRequestInvalid('client_secret', 'client_secret is given in the form and by HTTP Basic.');
  }
  const [, encoded] = BASIC.exec(request.headers.authorization ?? '') ?? [];
  const decoded = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 1) throw new ClientNotAuthenticated();
  const clientId = formDecode(decoded.slice(0, colon));
  if (form.client_id && form.client_id !== clientId) {
    throw new TokenRequestInvalid('client_id', 'client_id in the form differs from the one in HTTP Basic.');
  }
  return { clientId, proof: { secret: formDecode(decoded.slice(colon + 1)) } };
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
