import { randomUUID } from 'node:crypto';
import createClient, { type Client } from 'openapi-fetch';
import { Changes, type FollowOptions } from './changes';
import { checkNumbers } from './checked-numbers';
import { type ProofOptions, proofOf } from './client-proof';
import { type paths } from './contract';
import { Export, type ExportOptions } from './export';
import { type Received } from './json-object';
import { MemoryTokenStore } from './memory-token-store';
import { Pages } from './pages';
import { type RetryPolicy, policyOf } from './retry';
import type * as api from './resources';
import { type TokenStore } from './token-store';
import { Transport } from './transport';

export interface ClientOptions extends ProofOptions {
  /** Address of the API, for example `https://api.example.com`. */
  readonly baseUrl: string;
  readonly clientId: string;
  /** Shared by the workers of one application. By default each client object has its own store. */
  readonly tokenStore?: TokenStore;
  readonly retry?: Partial<RetryPolicy>;
  /**
   * Maximum wait for one response, and for a token, in milliseconds. Default 15,000. The token store gets a third of
   * it.
   */
  readonly timeoutMs?: number;
  /** Replaces the built-in fetch, for example to use a proxy. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Cancels the call, even during a pause before a retry. The call then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface FindOptions extends CallOptions {
  /** Adds the owner with name and e-mail address. */
  readonly expand?: 'owner';
  /** A date-time: shows the item as a read at this instant showed it. */
  readonly asOf?: string;
}

export interface WriteOptions extends CallOptions {
  /**
   * 1 to 256 characters. By default a new one for each call, kept over its retries. Pass your own to repeat a call
   * later.
   */
  readonly idempotencyKey?: string;
  /** With true, null in the patch clears a member (RFC 7396). By default null leaves it unchanged. */
  readonly nullClears?: boolean;
}

export interface UpdateOptions extends WriteOptions {
  /**
   * The `etag` that you have read. If the asset has changed since, nothing is applied and `precondition_failed` is
   * thrown. Null, as of a read with `expand` or `asOf`, is refused by a `TypeError`.
   */
  readonly ifMatch?: string | null;
}

export interface Answer<Body> {
  readonly body: Body;
  /** Version of the asset, for `ifMatch`. Null for resources without versions. */
  readonly etag: string | null;
  /** True when this repeats the response to an earlier request with the same key. */
  readonly replayed: boolean;
  /** Quote it when you report a fault. */
  readonly requestId: string | null;
}

/**
 * The API, with one method for each operation.
 * @throws `Problem` when the API refuses, `ConnectionLost` when no response arrives
 */
export class ComplianceClient {
  // Private fields, so that printing a client shows no secret.
  readonly #api: Client<paths, 'application/json'>;
  readonly #transport: Transport;
  readonly #baseUrl: string;

  constructor(options: ClientOptions) {
    const baseUrl = options.baseUrl.replace(/\/+$/, '');
    const { timeoutMs = 15_000 } = options;
    const retry = policyOf(options.retry);
    checkNumbers({ timeoutMs, ...retry });
    this.#baseUrl = baseUrl;
    this.#transport = new Transport({
      baseUrl,
      clientId: options.clientId,
      proof: proofOf(options.clientId, baseUrl, options),
      store: options.tokenStore ?? new MemoryTokenStore(),
      retry,
      timeoutMs,
      fetch: options.fetch ?? fetch,
    });
    this.#api = createClient<paths, 'application/json'>({
      baseUrl,
      headers: { Accept: 'application/json, application/problem+json' },
      querySerializer: (query) => searchOf(query).toString(),
    });
  }

  /** Needs neither a token nor valid credentials. */
  async getHealth(options: CallOptions = {}): Promise<Answer<api.Health>> {
    const fetch = (request: Request) => this.#transport.sendAnonymously(request, options.signal);
    return answerOf(await this.#api.GET('/v1/health', { ...this.#by(options), fetch }));
  }

  /** The application of the token, what it may do, and how many requests it has left. */
  async me(options: CallOptions = {}): Promise<Answer<api.Me>> {
    return answerOf(await this.#api.GET('/v1/me', this.#by(options)));
  }

  listAssets(query: api.AssetQuery = {}, options: CallOptions = {}): Pages<api.Asset> {
    return new Pages(this.#loading(query, options, (init) => this.#api.GET('/v1/inventory/assets', init)));
  }

  listCategories(query: api.CategoryQuery = {}, options: CallOptions = {}): Pages<api.AssetCategory> {
    return new Pages(this.#loading(query, options, (init) => this.#api.GET('/v1/inventory/categories', init)));
  }

  listTagKeys(query: api.TagKeyQuery = {}, options: CallOptions = {}): Pages<api.TagKey> {
    return new Pages(this.#loading(query, options, (init) => this.#api.GET('/v1/inventory/tag-keys', init)));
  }

  listSources(query: api.SourceQuery = {}, options: CallOptions = {}): Pages<api.Source> {
    return new Pages(this.#loading(query, options, (init) => this.#api.GET('/v1/inventory/sources', init)));
  }

  listComputers(query: api.ComputerQuery = {}, options: CallOptions = {}): Pages<api.Computer> {
    return new Pages(this.#loading(query, options, (init) => this.#api.GET('/v1/computers', init)));
  }

  /** Follows the changes of assets. Without a cursor it begins with every visible asset. */
  changes(query: api.AssetChangeQuery = {}, options: FollowOptions = {}): Changes<api.AssetChange> {
    const load = this.#loading(query, options, (init) => this.#api.GET('/v1/inventory/changes', init));
    return new Changes(load, options);
  }

  /** Follows the changes of computers. */
  computerChanges(query: api.ComputerChangeQuery = {}, options: FollowOptions = {}): Changes<api.ComputerChange> {
    const load = this.#loading(query, options, (init) => this.#api.GET('/v1/computers/changes', init));
    return new Changes(load, options);
  }

  /** Follows audit events in the order of their `sequence`. Without a cursor it begins with the first one. */
  auditEvents(
    query: api.AuditEventQuery = {},
    options: FollowOptions = {},
  ): Changes<api.AuditEvent, api.AuditEventPage> {
    const load = this.#loading(query, options, (init) => this.#api.GET('/v1/audit-events', init));
    return new Changes(load, options);
  }

  /** Reads all assets that the filters match in one response, which is resumed when it is cut. */
  export(query: api.AssetExportQuery = {}, options: ExportOptions = {}): Export<api.Asset> {
    return this.#export('/v1/inventory/assets', query, 'asset', options);
  }

  /** The same for computers. */
  exportComputers(query: api.ComputerExportQuery = {}, options: ExportOptions = {}): Export<api.Computer> {
    return this.#export('/v1/computers', query, 'computer', options);
  }

  async getAsset(id: string, options: FindOptions = {}): Promise<Answer<api.Asset>> {
    const { signal, ...query } = options;
    return answerOf(
      await this.#api.GET('/v1/inventory/assets/{id}', { ...this.#by({ signal }), params: { path: { id }, query } }),
    );
  }

  async getComputer(id: string, options: FindOptions = {}): Promise<Answer<api.Computer>> {
    const { signal, ...query } = options;
    return answerOf(
      await this.#api.GET('/v1/computers/{id}', { ...this.#by({ signal }), params: { path: { id }, query } }),
    );
  }

  /** The states of one asset, newest first. `asset` is null for a time when it was hidden or deleted. */
  assetHistory(id: string, query: api.HistoryQuery = {}, options: CallOptions = {}): Pages<api.AssetHistoryEntry> {
    return new Pages(
      this.#loading(query, options, (init) =>
        this.#api.GET('/v1/inventory/assets/{id}/history', { ...init, params: { ...init.params, path: { id } } }),
      ),
    );
  }

  /** The states of one computer with its posture, newest first. */
  computerHistory(
    id: string,
    query: api.HistoryQuery = {},
    options: CallOptions = {},
  ): Pages<api.ComputerHistoryEntry> {
    return new Pages(
      this.#loading(query, options, (init) =>
        this.#api.GET('/v1/computers/{id}/history', { ...init, params: { ...init.params, path: { id } } }),
      ),
    );
  }

  /** Counts of visible assets by day; of today alone without a query. */
  async summary(query: api.SummaryQuery = {}, options: CallOptions = {}): Promise<Answer<api.AssetSummary>> {
    return answerOf(await this.#api.GET('/v1/inventory/summary', { ...this.#by(options), params: { query } }));
  }

  /** The same for computers and their checks. */
  async computerSummary(query: api.SummaryQuery = {}, options: CallOptions = {}): Promise<Answer<api.ComputerSummary>> {
    return answerOf(await this.#api.GET('/v1/computers/summary', { ...this.#by(options), params: { query } }));
  }

  /** Updates owner, description, classification and customer tags of one asset. */
  async updateAsset(id: string, patch: api.AssetPatch, options: UpdateOptions = {}): Promise<Answer<api.Asset>> {
    const { idempotencyKey = randomUUID(), ifMatch, nullClears = false } = options;
    if (ifMatch === null) throw new TypeError('A read without an etag cannot guard an update.');
    return answerOf(
      await this.#api.PATCH('/v1/inventory/assets/{id}', {
        ...this.#by(options),
        params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey, 'If-Match': ifMatch } },
        headers: { 'Content-Type': mediaTypeOf(nullClears) },
        body: patch,
      }),
    );
  }

  /** Applies one patch to up to 100 assets, or a patch to each of them, in one transaction. */
  async updateAssets(update: api.BulkUpdate, options: WriteOptions = {}): Promise<Answer<api.BulkUpdateSummary>> {
    const { idempotencyKey = randomUUID(), nullClears = false } = options;
    return answerOf(
      await this.#api.PATCH('/v1/inventory/assets', {
        ...this.#by(options),
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        headers: { 'Content-Type': mediaTypeOf(nullClears) },
        body: update as api.Body<'updateAssets'>,
      }),
    );
  }

  /**
   * Leaves the parsing of the response to the transport, and the signal too: a Request would leave a listener on it until
   * garbage is collected.
   */
  #by({ signal }: CallOptions): Sender {
    return { parseAs: 'stream', fetch: (request) => this.#transport.send(request, signal) };
  }

  /** Returns a function that loads the page at a cursor. */
  #loading<Query extends { pageCursor?: string }, Page>(
    query: Query,
    options: CallOptions,
    load: (init: ListInit<Query>) => Promise<Fetched<Page>>,
  ): (cursor: string | null) => Promise<Page> {
    return async (cursor) => {
      const next = cursor === null ? query : { ...query, since: undefined, pageCursor: cursor };
      return answerOf(await load({ ...this.#by(options), params: { query: next } })).body;
    };
  }

  #export<Item>(path: string, query: object, item: string, options: ExportOptions): Export<Item> {
    return new Export(
      (checkpoint) => {
        const url = new URL(this.#baseUrl + path);
        url.search = searchOf(query).toString();
        if (checkpoint !== null) url.searchParams.set('pageCursor', checkpoint);
        const request = new Request(url, { headers: { Accept: 'application/x-ndjson' } });
        return this.#transport.open(request, options.signal);
      },
      item,
      options,
    );
  }
}

/** Options by which openapi-fetch sends a request. */
interface Sender {
  readonly fetch: (request: Request) => Promise<Received>;
  readonly [option: string]: unknown;
}

/** Options of a list's request. */
interface ListInit<Query> extends Sender {
  readonly params: { readonly query: Query };
}

/** The result of openapi-fetch. Of its data only the type counts. */
interface Fetched<Body> {
  readonly data?: Body;
  readonly response: Response;
}

function answerOf<Body>({ response }: Fetched<Body>): Answer<Body> {
  const { headers, parsed } = response as Received;
  return {
    body: parsed as Body,
    etag: headers.get('ETag'),
    replayed: headers.get('Idempotent-Replayed') === 'true',
    requestId: headers.get('X-Request-Id'),
  };
}

/** Separates list items by commas. Keeps an empty list, so that the API refuses it instead of matching everything. */
function searchOf(query: object): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  return search;
}

const mediaTypeOf = (nullClears: boolean): string => (nullClears ? 'application/merge-patch+json' : 'application/json');
