import { abortable, withTimeout } from './abort';
import { type Proof } from './client-proof';
import { type ExportLine } from './export';
import { type Received, jsonObject } from './json-object';
import { LimitedTokenStore } from './limited-token-store';
import { ndjsonLines } from './ndjson';
import { ConnectionLost, Problem } from './problem';
import { type RetryPolicy, retried } from './retry';
import { tokenOf } from './token-response';
import { TokenCache } from './token-cache';
import { LOCK_MS, type StoredToken, type TokenStore } from './token-store';

export interface TransportOptions {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly proof: Proof;
  readonly store: TokenStore;
  readonly retry: RetryPolicy;
  /** Maximum wait for one response, and for a token, in milliseconds. */
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
}

/** Codes that a new token may fix. */
const TOKEN_FAULTS: readonly string[] = ['token_superseded', 'token_expired', 'token_invalid'];
/** After this many renewals, another program that does not share the store is probably requesting tokens, too. */
const RENEWALS_OF_A_CALL = 2;
/**
 * Limit of one store operation. While a worker holds the lock, two of them, the token request and the unlock must
 * finish before the lock expires.
 */
const LONGEST_STORE_MS = LOCK_MS / 6;
const LONGEST_TOKEN_REQUEST_MS = LOCK_MS / 2;

/** Takes what the caller wants from a response. @throws `Problem` for an error response */
type Receive<Result> = (response: Response) => Promise<Result>;

/** Sends requests with a token, retries them when that is safe, and throws errors. */
export class Transport {
  // Private fields, so that printing a client shows no secret.
  readonly #options: TransportOptions;
  readonly #tokens: TokenCache;

  constructor(options: TransportOptions) {
    this.#options = options;
    const { baseUrl, clientId, timeoutMs } = options;
    const store = new LimitedTokenStore(options.store, Math.min(Math.ceil(timeoutMs / 3), LONGEST_STORE_MS));
    const limits = { waitMs: timeoutMs, renewalMs: 2 * LOCK_MS };
    this.#tokens = new TokenCache(`${clientId}@${baseUrl}`, store, () => this.#issueToken(), limits);
  }

  /** For reads, and for writes with an `Idempotency-Key`. */
  async send(request: Request, signal: AbortSignal | undefined): Promise<Received> {
    return retried((limited) => this.#sendWithToken(request, limited, object), this.#options.retry, signal);
  }

  /** For a stream: its body is read as it arrives. Whoever reads it repeats what breaks off. */
  async open(request: Request, signal: AbortSignal | undefined): Promise<AsyncIterable<ExportLine>> {
    const { retry, timeoutMs } = this.#options;
    const attempt = (limited: AbortSignal) => this.#sendWithToken(request, limited, stream);
    return ndjsonLines(await retried(attempt, retry, signal), timeoutMs, signal);
  }

  /** For reads that need no token. */
  async sendAnonymously(request: Request, signal: AbortSignal | undefined): Promise<Received> {
    return retried((limited) => this.#exchange(request.clone(), limited, object), this.#options.retry, signal);
  }

  async #sendWithToken<Result>(request: Request, signal: AbortSignal, receive: Receive<Result>): Promise<Result> {
    let refused: string | null = null;
    for (let renewals = 0; ; renewals += 1) {
      const token = await this.#tokens.get(refused, signal);
      const authorized = request.clone();
      authorized.headers.set('Authorization', `Bearer ${token}`);
      try {
        return await this.#exchange(authorized, signal, receive);
      } catch (error) {
        const isTokenFault = error instanceof Problem && TOKEN_FAULTS.includes(error.code);
        if (!isTokenFault || renewals === RENEWALS_OF_A_CALL) throw error;
        refused = token;
      }
    }
  }

  async #issueToken(): Promise<StoredToken> {
    const { baseUrl, clientId, proof, timeoutMs } = this.#options;
    const limitMs = Math.min(timeoutMs, LONGEST_TOKEN_REQUEST_MS);
    return withTimeout(undefined, limitMs, async (limited) => {
      try {
        // The assertion is a function of the user, which may never settle.
        const proven = await abortable(proof(), limited);
        const form = { grant_type: 'client_credentials', client_id: clientId, ...proven };
        const sentAt = Date.now();
        const request = new Request(`${baseUrl}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
        return tokenOf(await this.#exchange(request, limited, object), sentAt);
      } catch (error) {
        throw limited.aborted ? new ConnectionLost(error) : error;
      }
    });
  }

  /** Sends one request and receives the response. The connection can fail in between. */
  async #exchange<Result>(request: Request, signal: AbortSignal, receive: Receive<Result>): Promise<Result> {
    return withTimeout(signal, this.#options.timeoutMs, async (limited) => {
      try {
        // A custom fetch may ignore the signal.
        return await abortable(this.#fetch(request, limited).then(receive), limited);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof Problem) throw error;
        throw new ConnectionLost(error);
      }
    });
  }

  #fetch(request: Request, signal: AbortSignal): Promise<Response> {
    // Following a redirect would send the secret or token to an arbitrary address. A custom fetch may ignore the second
    // argument.
    const init = { signal, redirect: 'manual' } as const;
    return this.#options.fetch(new Request(request, init), init);
  }
}

async function object(response: Response): Promise<Received> {
  if (!response.ok) throw await Problem.of(response);
  const type = response.headers.get('Content-Type');
  const parsed = jsonObject(await response.text());
  if (!type?.includes('json'))
    throw Problem.unexpected(response, `The response is not JSON: its Content-Type is ${type ?? 'missing'}.`);
  if (parsed === null) throw Problem.unexpected(response, 'The response is not a JSON object.');
  return Object.assign(response, { parsed });
}

async function stream(response: Response): Promise<Response> {
  if (!response.ok) throw await Problem.of(response);
  const type = response.headers.get('Content-Type');
  if (type?.includes('ndjson')) return response;
  await response.body?.cancel();
  throw Problem.unexpected(response, `The response is no stream but ${type ?? 'of no type'}.`);
}
