import { withTimeout } from './abort';
import { ConnectionLost, Problem } from './problem';
import { type RetryPolicy, retried } from './retry';
import { TokenCache } from './token-cache';
import { LOCK_MS, type StoredToken, type TokenStore } from './token-store';

export interface TransportOptions {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly store: TokenStore;
  readonly retry: RetryPolicy;
  /** Longest wait for one answer, milliseconds. */
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
}

/** What another token may help against. */
const TOKEN_FAULTS: readonly string[] = ['token_superseded', 'token_expired', 'token_invalid'];
/** More than that, and somebody who does not share the store is at it too. */
const RENEWALS_OF_A_CALL = 2;

/** Sends requests with a token, again where that is safe, and throws what is no success. */
export class Transport {
  private readonly tokens: TokenCache;

  constructor(private readonly options: TransportOptions) {
    const { baseUrl, clientId, store } = options;
    this.tokens = new TokenCache(`${clientId}@${baseUrl}`, store, () => this.issueToken());
  }

  /** For a read, or a write that has its `Idempotency-Key`. */
  async send(request: Request): Promise<Response> {
    return retried(() => this.sendWithToken(request), this.options.retry, request.signal);
  }

  /** For a read that everybody may do. */
  async sendAnonymously(request: Request): Promise<Response> {
    return retried(() => this.exchange(request.clone()).then(success), this.options.retry, request.signal);
  }

  private async sendWithToken(request: Request): Promise<Response> {
    let refused: string | null = null;
    for (let renewals = 0; ; renewals += 1) {
      const token = await this.tokens.get(refused, request.signal);
      const authorized = request.clone();
      authorized.headers.set('Authorization', `Bearer ${token}`);
      const response = await this.exchange(authorized);
      if (response.ok) return response;
      const problem = await Problem.of(response);
      if (!TOKEN_FAULTS.includes(problem.code) || renewals === RENEWALS_OF_A_CALL) throw problem;
      refused = token;
    }
  }

  private async issueToken(): Promise<StoredToken> {
    const { baseUrl, clientId, clientSecret, timeoutMs } = this.options;
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const sentAt = Date.now();
    const request = new Request(`${baseUrl}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    // It must be over before the lock under which it runs lapses.
    const response = await this.exchange(request, Math.min(timeoutMs, LOCK_MS / 2)).then(success);
    const { access_token, expires_in } = (await response.json()) as { access_token: string; expires_in: number };
    return { accessToken: access_token, usableUntil: sentAt + usableSeconds(expires_in) * 1000 };
  }

  /** One request and its whole answer: a connection can be lost between the two. */
  private async exchange(request: Request, timeoutMs = this.options.timeoutMs): Promise<Response> {
    return withTimeout(request.signal, timeoutMs, async (signal) => {
      try {
        const response = await this.options.fetch(request, { signal });
        const body = await response.arrayBuffer();
        return new Response(body.byteLength > 0 ? body : null, response);
      } catch (error) {
        request.signal.throwIfAborted();
        throw new ConnectionLost(error);
      }
    });
  }
}

async function success(response: Response): Promise<Response> {
  if (!response.ok) throw await Problem.of(response);
  return response;
}

/** A minute less than the lifetime, or a tenth of a short one, so that no token expires on its way. */
function usableSeconds(lifetime: number): number {
  return lifetime - Math.min(60, lifetime / 10);
}
