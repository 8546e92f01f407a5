import { randomUUID } from 'node:crypto';
import createClient, { type Client } from 'openapi-fetch';
import { type paths } from './contract';
import { MemoryTokenStore } from './memory-token-store';
import { type Page, Pages } from './pages';
import { DEFAULT_RETRY, type RetryPolicy } from './retry';
import {
  type Asset,
  type AssetCategory,
  type AssetPatch,
  type AssetQuery,
  type BulkUpdate,
  type BulkUpdateSummary,
  type CategoryQuery,
  type Computer,
  type ComputerQuery,
  type Health,
  type Me,
} from './resources';
import { type TokenStore } from './token-store';
import { Transport } from './transport';

export interface ClientOptions {
  /** Where the API is, for example `https://api.example.com`. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the workers of one application share. By default each client object has a store of its own. */
  readonly tokenStore?: TokenStore;
  readonly retry?: Partial<RetryPolicy>;
  /** Longest wait for one answer, and for a token, milliseconds; 15,000 by default. The token store has a third of it. */
  readonly timeoutMs?: number;
  /** Instead of the built-in one, for example to go through a proxy. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Gives the call up, also while it waits to try again; the signal's reason is thrown. */
  readonly signal?: AbortSignal;
}

export interface WriteOptions extends CallOptions {
  /** 1 to 256 characters. By default a fresh one for each call, kept over its retries. Name your own to repeat a call later. */
  readonly idempotencyKey?: string;
}

export interface UpdateOptions extends WriteOptions {
  /** The `etag` of the version that was read: if somebody changed it since, nothing is applied and `precondition_failed` thrown. */
  readonly ifMatch?: string;
  /** A null in the patch clears the member instead of leaving it as it is (RFC 7396). */
  readonly nullClears?: boolean;
}

export interface Answer<Body> {
  readonly body: Body;
  /** Names this version of the asset, for `ifMatch`; null where there are no versions. */
  readonly etag: string | null;
  /** True when this is the answer to an earlier request with the same key. */
  readonly replayed: boolean;
  /** To quote when you report something. */
  readonly requestId: string | null;
}

/** The API, one method an operation. Throws `Problem` when it refuses and `ConnectionLost` when no answer came. */
export class ComplianceClient {
  // Private to the language, so that whoever prints a client prints no secret.
  readonly #api: Client<paths, 'application/json'>;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    const baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#transport = new Transport({
      baseUrl,
      clientId: options.clientId,
      clientSecret: options.clientSecret,
      store: options.tokenStore ?? new MemoryTokenStore(),
      retry: { ...DEFAULT_RETRY, ...options.retry },
      timeoutMs: options.timeoutMs ?? 15_000,
      fetch: options.fetch ?? fetch,
    });
    this.#api = createClient<paths, 'application/json'>({
      baseUrl,
      fetch: (request) => this.#transport.send(request),
      headers: { Accept: 'application/json, application/problem+json' },
    });
  }

  /** Needs no token and no credentials that are right. */
  async getHealth(options: CallOptions = {}): Promise<Answer<Health>> {
    const anonymously = (request: Request) => this.#transport.sendAnonymously(request);
    return answerOf(await this.#api.GET('/v1/health', { ...options, fetch: anonymously }));
  }

  /** The application of the token, what it may do, and how many requests it has left. */
  async me(options: CallOptions = {}): Promise<Answer<Me>> {
    return answerOf(await this.#api.GET('/v1/me', { ...options }));
  }

  listAssets(query: AssetQuery = {}, options: CallOptions = {}): Pages<Asset> {
    return pagesOf(query, (next) => this.#api.GET('/v1/inventory/assets', { ...options, params: { query: next } }));
  }

  listCategories(query: CategoryQuery = {}, options: CallOptions = {}): Pages<AssetCategory> {
    return pagesOf(query, (next) => this.#api.GET('/v1/inventory/categories', { ...options, params: { query: next } }));
  }

  listComputers(query: ComputerQuery = {}, options: CallOptions = {}): Pages<Computer> {
    return pagesOf(query, (next) => this.#api.GET('/v1/computers', { ...options, params: { query: next } }));
  }

  async getAsset(id: string, options: CallOptions = {}): Promise<Answer<Asset>> {
    return answerOf(await this.#api.GET('/v1/inventory/assets/{id}', { ...options, params: { path: { id } } }));
  }

  async getComputer(id: string, options: CallOptions = {}): Promise<Answer<Computer>> {
    return answerOf(await this.#api.GET('/v1/computers/{id}', { ...options, params: { path: { id } } }));
  }

  /** Owner, description, classification and customer tags of one asset. */
  async updateAsset(id: string, patch: AssetPatch, options: UpdateOptions = {}): Promise<Answer<Asset>> {
    const { signal, idempotencyKey = randomUUID(), ifMatch, nullClears = false } = options;
    return answerOf(
      await this.#api.PATCH('/v1/inventory/assets/{id}', {
        signal,
        params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey, 'If-Match': ifMatch } },
        headers: { 'Content-Type': nullClears ? 'application/merge-patch+json' : 'application/json' },
        body: patch,
      }),
    );
  }

  /** The same patch for up to 100 assets, all in one transaction. */
  async updateAssets(update: BulkUpdate, options: WriteOptions = {}): Promise<Answer<BulkUpdateSummary>> {
    const { signal, idempotencyKey = randomUUID() } = options;
    return answerOf(
      await this.#api.PATCH('/v1/inventory/assets', {
        signal,
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        body: { ids: [...update.ids], patch: update.patch },
      }),
    );
  }
}

/** What openapi-fetch gives; our transport throws what is no success, so the body is there. */
interface Fetched<Body> {
  readonly data?: Body;
  readonly response: Response;
}

function answerOf<Body>({ data, response: { headers } }: Fetched<Body>): Answer<Body> {
  return {
    body: data as Body,
    etag: headers.get('ETag'),
    replayed: headers.get('Idempotent-Replayed') === 'true',
    requestId: headers.get('X-Request-Id'),
  };
}

function pagesOf<Query extends { pageCursor?: string }, Item>(
  query: Query,
  load: (query: Query) => Promise<Fetched<Page<Item>>>,
): Pages<Item> {
  return new Pages(async (cursor) => {
    const next = cursor === null ? query : { ...query, pageCursor: cursor };
    return answerOf(await load(next)).body;
  });
}
