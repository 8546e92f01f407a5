import { Injectable, NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import { isStorable } from '#libs/kernel';
import { Settings, readSecretFileSync } from '#libs/platform/config';
import type { ClientAuth, Configuration } from 'openid-client';
import type { Account } from '../domain/person';

const TIMEOUT_SECONDS = 10;
const AWAY = 'The issuer of accounts does not respond. Try again in a minute.';

/** Signs people in by OpenID Connect: authorization code with PKCE, by openid-client. */
@Injectable()
export class Issuer {
  private configuration: Promise<Configuration> | null = null;
  private secret = '';

  constructor(private readonly settings: Settings) {}

  /** Begins a sign-in: where the browser goes, and what it keeps. @throws 503 while the issuer does not respond */
  async begin(): Promise<{ readonly address: string; readonly kept: string }> {
    const client = await import('openid-client');
    const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()];
    const address = client.buildAuthorizationUrl(await this.discovered(), {
      redirect_uri: `${this.settings.console.url}/sign-in/callback`,
      scope: 'openid email',
      ...{ state, nonce },
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { address: address.href, kept: `${state}.${nonce}.${verifier}` };
  }

  /**
   * Ends it. Returns the reason as a text where the issuer refuses, or where the response does not belong to what the browser
   * kept. @throws 503 while the issuer does not respond
   */
  async finish(callback: string, kept: string): Promise<Account | string> {
    const configuration = await this.discovered();
    // Read each time, because the file may be replaced. One that cannot be read is no fault of the person.
    this.secret = readSecretFileSync(this.getClient().secretFile).toString().trim();
    if (this.secret === '') throw new Error('the secret for the issuer is empty');
    return this.accountOf(configuration, callback, kept).catch((cause: unknown) => {
      if (isAway(cause)) throw new ServiceUnavailableException(AWAY, { cause });
      const { error, status, response } = cause as { error?: unknown; status?: unknown; response?: Response };
      // The issuer does not take the secret: no fault of the person either. Elsewhere a 401 is of an access token that it
      // ended, as where a callback is sent twice at once.
      const { token_endpoint: endpoint = '' } = configuration.serverMetadata();
      const isRefused = status === 401 && response?.url === new URL(endpoint).href;
      if (isRefused || error === 'invalid_client') throw cause;
      return (cause as Error).message;
    });
  }

  private async accountOf(configuration: Configuration, callback: string, kept: string): Promise<Account> {
    const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client');
    const [expectedState = '', expectedNonce = '', pkceCodeVerifier = ''] = kept.split('.');
    const checks = { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true };
    const tokens = await authorizationCodeGrant(configuration, new URL(callback, this.settings.console.url), checks);
    const claims = tokens.claims();
    // openid-client takes the tokens of every tenant of an issuer for many, whose accounts are not one set.
    if (claims?.iss !== configuration.serverMetadata().issuer) throw new Error('the id token is of another issuer');
    // Many issuers tell the address only here.
    const hasMore = claims['email'] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined;
    const told = hasMore ? await fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims;
    const { email, email_verified: isVerified } = told as Record<string, unknown>;
    const verifiedEmail = typeof email === 'string' && isVerified === true ? email : null;
    // OpenID Connect has no longer subject, and an empty one would be everybody.
    const isKept = /^.{1,255}$/su.test(claims.sub) && isStorable(claims.sub) && isStorable(verifiedEmail ?? '');
    if (!isKept) throw new Error('the subject or the address cannot be stored');
    return { issuer: this.getClient().issuer, subject: claims.sub, verifiedEmail };
  }

  /** @throws 404 without an issuer */
  getClient(): NonNullable<Settings['console']['oidc']> {
    const { oidc } = this.settings.console;
    if (!oidc) throw new NotFoundException();
    return oidc;
  }

  /** Asked once. A failure is asked again. */
  private async discovered(): Promise<Configuration> {
    const client = this.getClient();
    try {
      return await (this.configuration ??= this.discover(client));
    } catch (cause) {
      this.configuration = null;
      throw new ServiceUnavailableException(AWAY, { cause });
    }
  }

  private async discover({ issuer, clientId }: ReturnType<Issuer['getClient']>): Promise<Configuration> {
    const { ClientSecretBasic, ClientSecretPost, ...client } = await import('openid-client');
    const authenticate: ClientAuth = (server, ...request) => {
      // An issuer that names no method takes Basic (OpenID Connect Discovery, section 3).
      const takesForms = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
      (takesForms ? ClientSecretPost(this.secret) : ClientSecretBasic(this.secret))(server, ...request);
    };
    // Only the test of a developer signs people in without TLS; production requires https.
    const insecure = this.settings.production ? [] : [client.allowInsecureRequests];
    const found = await client.discovery(new URL(issuer), clientId, undefined, authenticate, {
      timeout: TIMEOUT_SECONDS,
      // Checks the signature of the id token by the issuer's keys.
      execute: [client.enableNonRepudiationChecks, ...insecure],
    });
    const { authorization_endpoint: asked, token_endpoint: given, jwks_uri: keys } = found.serverMetadata();
    // It would be kept, and sign nobody in.
    const isUsable = (address?: string): boolean => /^https?:/.test(address ?? '') && URL.canParse(address as string);
    if (![asked, given, keys].every(isUsable)) throw new Error('the document of the issuer lacks an address');
    return found;
  }
}

/** Whether a request to the issuer failed on the way, took too long, was one too many or met a fault of the issuer's own. */
function isAway(error: unknown): boolean {
  const { code, status, cause } = error as { code?: unknown; status?: unknown; cause?: unknown };
  const isOnTheWay = error instanceof TypeError && code === undefined;
  const told = Number(cause instanceof Response ? cause.status : status);
  return isOnTheWay || code === 'OAUTH_TIMEOUT' || told === 429 || told >= 500;
}
