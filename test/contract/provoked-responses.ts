import { createHash, randomUUID } from 'node:crypto';
import type { ErrorCode } from '#libs/kernel';
import { FEATURES } from '../../apps/features';
import { type ApiResponse, ApiClient } from '../support/api-client';
import type { ArrangedApplication } from '../support/arrangement';
import { decodeJwt, decodeProtectedHeader, forgeToken, signingKeyOf } from '../support/jwt';
import { type TestApp, startInstance } from '../support/start-app';
import type { NamedOperation } from './contract-document';
import { type GivenResponse, assertDocumented } from './contract-oracle';
import { type EveryResource, arrangeEveryResource } from './every-resource';

interface Wanted {
  readonly token?: string | null;
  readonly of?: TestApp;
  readonly id?: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

type Provoke = (one: NamedOperation) => Promise<ApiResponse>;

/** Provokes every documented response of each operation and records its headers. */
export class ProvokedResponses {
  /** `operationId status Header-Name`, spelt as in the contract. */
  readonly seen = new Set<string>();
  private readonly takenKey = randomUUID();

  private constructor(
    private readonly app: TestApp,
    /** An instance that allows only one request of each class. */
    private readonly limited: TestApp,
    private readonly workspace: string,
    private readonly application: ArrangedApplication,
    private readonly token: string,
    private readonly arranged: EveryResource,
  ) {}

  static async of(app: TestApp): Promise<ProvokedResponses> {
    const workspace = await app.arrange.aWorkspace();
    const arranged = await arrangeEveryResource(app, workspace);
    const limits = { RATE_LIMIT_TOKEN: '1/1', RATE_LIMIT_READ: '1/1', RATE_LIMIT_WRITE: '1/1' };
    const limited = await startInstance(app, limits);
    const application = await app.arrange.anApplication(workspace);
    const token = await app.arrange.aToken(workspace);
    return new ProvokedResponses(app, limited, workspace, application, token, arranged);
  }

  async stop(): Promise<void> {
    await this.limited.stop();
  }

  /** Provokes a success of the operation. Lists return the first of several pages; writes are also replayed. */
  async success(one: NamedOperation): Promise<ApiResponse> {
    const headers = { 'Idempotency-Key': randomUUID() };
    if (one.method === 'PATCH') await this.send(one, { headers });
    if (one.operation.operationId?.startsWith('list')) return this.send(one, { query: '?pageSize=1' });
    return this.send(one, one.method === 'PATCH' ? { headers } : {});
  }

  /** Provokes the problem at each of the operations, in order. */
  async problem(code: ErrorCode, operations: readonly NamedOperation[]): Promise<ApiResponse[]> {
    if (code === 'idempotency_in_progress') {
      return this.whileKeyIsTaken(() => Promise.all(operations.map((one) => this.recipes[code](one))));
    }
    if (code !== 'internal_error' && code !== 'service_unavailable') {
      const given: ApiResponse[] = [];
      for (const one of operations) given.push(await this.recipes[code](one));
      return given;
    }
    // Operations that need more than authentication fail later, so their caller was already charged.
    const responses = new Map<NamedOperation, ApiResponse>();
    const failing = async (ones: readonly NamedOperation[], broken: readonly string[]): Promise<void> => {
      const work = () => Promise.all(ones.map(async (one) => responses.set(one, await this.recipes[code](one))));
      await (code === 'internal_error' ? this.whileRenamed(broken, work) : this.whileLocked(broken, work));
    };
    const early = ['issueToken', 'listCategories'];
    const isEarly = ({ operation }: NamedOperation): boolean => early.includes(operation.operationId ?? '');
    await failing(
      operations.filter((one) => !isEarly(one)),
      RELATIONS,
    );
    await failing(operations.filter(isEarly), ['application']);
    return operations.map((one) => responses.get(one) as ApiResponse);
  }

  private readonly recipes: Readonly<Record<ErrorCode, Provoke>> = {
    validation_failed: (one) => this.send(one, { query: '?no=1', headers: { 'Idempotency-Key': ' ' } }),
    invalid_cursor: (one) => this.send(one, { query: '?pageCursor=altered' }),
    unsupported_audience: (one) => this.send(one, { form: { audience: 'https://elsewhere.test' } }),
    unsupported_grant_type: (one) => this.send(one, { form: { grant_type: 'password' } }),
    invalid_request: (one) => this.send(one, { form: { grant_type: '' } }),
    invalid_scope: (one) => this.send(one, { form: { scope: 'everything' } }),
    invalid_client: (one) =>
      this.send(one, { body: 'grant_type=client_credentials', headers: { Authorization: WRONG } }),
    token_missing: (one) => this.send(one, { token: null }),
    token_invalid: (one) => this.send(one, { token: 'none.of.ours' }),
    token_expired: (one) => this.send(one, { token: this.expired() }),
    token_superseded: async (one) => {
      const application = await this.app.arrange.anApplication(this.workspace);
      const [token] = [await this.tokenOf(application), await this.tokenOf(application)];
      return this.send(one, { token });
    },
    insufficient_scope: async (one) => {
      const other = one.method === 'GET' ? 'all:write' : 'all:read';
      return this.send(one, { token: await this.app.arrange.aToken(this.workspace, [other]) });
    },
    resource_not_writable: (one) =>
      this.send(one, {
        id: this.arranged.employee,
        ...(one.path.includes('{id}') ? {} : { body: bulk(this.arranged.employee) }),
      }),
    not_found: (one) => this.send(one, { id: randomUUID() }),
    method_not_allowed: (one) => this.send(one),
    idempotency_conflict: async (one) => {
      const headers = { 'Idempotency-Key': randomUUID() };
      await this.send(one, { headers });
      return this.send(one, { headers: { ...headers, 'Content-Type': 'application/merge-patch+json' } });
    },
    idempotency_in_progress: (one) => this.send(one, { headers: { 'Idempotency-Key': this.takenKey } }),
    export_in_progress: async (one) => {
      const headers = { Accept: 'application/x-ndjson' };
      // Among so many that read their first rows together, one finds the place taken.
      const responses = await Promise.all(Array.from({ length: 10 }, () => this.send(one, { headers })));
      return responses.find(({ status }) => status === 409) ?? this.send(one, { headers });
    },
    cursor_expired: async (one) => {
      const { body } = await this.send(one, { query: '?since=now' });
      const restart = 'UPDATE change_head SET restarted_sequence = sequence * $2 + $2 WHERE workspace_id = $1';
      const otherIds = `UPDATE audit_event SET id = reverse(replace(id::text, '-', ''))::uuid WHERE workspace_id = $1`;
      await this.app.arrange.change(this.workspace, restart, [this.workspace, 1]);
      await this.app.arrange.change(this.workspace, otherIds, [this.workspace]);
      const refused = await this.send(one, { query: `?pageCursor=${String(body['resumeCursor'])}` });
      await this.app.arrange.change(this.workspace, otherIds, [this.workspace]);
      await this.app.arrange.change(this.workspace, restart, [this.workspace, 0]);
      return refused;
    },
    precondition_failed: (one) => this.send(one, { headers: { 'If-Match': '"999"' } }),
    payload_too_large: (one) => this.send(one, { body: 'x'.repeat(300_000) }),
    unsupported_media_type: (one) => this.send(one, { headers: { 'Content-Type': 'text/plain' } }),
    headers_too_large: (one) => this.send(one, { headers: { 'X-Large': 'x'.repeat(20_000) } }),
    rate_limited: async (one) => {
      const application = await this.app.arrange.anApplication(this.workspace);
      const wanted = { of: this.limited, form: credentials(application), token: await this.tokenOf(application) };
      await this.send(one, wanted);
      return this.send(one, wanted);
    },
    internal_error: (one) => this.send(one),
    service_unavailable: (one) => this.send(one),
  };

  private async send(one: NamedOperation, wanted: Wanted = {}): Promise<ApiResponse> {
    const { security = [] } = one.operation;
    const ownId = this.arranged.ids[one.path.replace(/\/\{id\}.*/, '')];
    const path = one.path.replace('{id}', wanted.id ?? ownId ?? '') + (wanted.query ?? '');
    const isSecured = security.some((way) => 'clientCredentials' in way);
    const token = isSecured && wanted.token !== null ? (wanted.token ?? this.token) : undefined;
    const client = new ApiClient((wanted.of ?? this.app).origin, token, (_, __, response) => this.judge(one, response));
    if (one.method === 'PATCH')
      return client.patch(path, wanted.body ?? this.arranged.bodies[one.path], wanted.headers);
    if (one.method === 'GET') return client.get(path, { headers: wanted.headers });
    const form = { grant_type: 'client_credentials', ...credentials(this.application), ...wanted.form };
    const body = (wanted.body as string | undefined) ?? new URLSearchParams(form).toString();
    return client.send(one.method, path, { body, headers: { 'Content-Type': FORM, ...wanted.headers } });
  }

  private judge({ method, path, operation }: NamedOperation, response: GivenResponse): void {
    assertDocumented(method, path, response);
    for (const name of Object.keys(operation.responses[String(response.status)]?.headers ?? {})) {
      if (response.headers.has(name)) this.seen.add(`${operation.operationId} ${response.status} ${name}`);
    }
  }

  private async tokenOf(application: ArrangedApplication): Promise<string> {
    const form = { grant_type: 'client_credentials', ...credentials(application) };
    return (await this.app.client().requestToken(form)).body['access_token'] as string;
  }

  private expired(): string {
    const key = signingKeyOf(this.token, this.app.settings.signingKeysDir);
    const exp = Math.floor(Date.now() / 1000) - 60;
    return forgeToken(decodeProtectedHeader(this.token), { ...decodeJwt(this.token), exp }, key);
  }

  /** Simulates a request with the key that runs longer than the maximum wait. */
  private async whileKeyIsTaken<Result>(work: () => Promise<Result>): Promise<Result> {
    const { admin } = this.app.database;
    const { rows } = await admin.query<{ id: string }>('SELECT id FROM application WHERE client_id = $1', [
      decodeJwt(this.token)['client_id'],
    ]);
    const hash = (text: string) => createHash('sha256').update(text);
    const name = `idempotency\n${this.workspace}\n${rows[0]?.id}\n${hash(this.takenKey).digest('hex')}`;
    const lock = hash(name).digest().readBigInt64BE(0).toString();
    return this.within(['SELECT pg_advisory_xact_lock($1)', [lock]], work);
  }

  private async whileLocked<Result>(tables: readonly string[], work: () => Promise<Result>): Promise<Result> {
    return this.within([`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`, []], work);
  }

  private async within<Result>([sql, values]: [string, string[]], work: () => Promise<Result>): Promise<Result> {
    const { admin } = this.app.database;
    await admin.query('BEGIN');
    try {
      await admin.query(sql, values);
      return await work();
    } finally {
      await admin.query('ROLLBACK');
    }
  }

  private async whileRenamed<Result>(relations: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const { admin } = this.app.database;
    for (const name of relations) await admin.query(`ALTER TABLE ${name} RENAME TO ${name}_away`);
    try {
      return await work();
    } finally {
      for (const name of relations) await admin.query(`ALTER TABLE ${name}_away RENAME TO ${name}`);
    }
  }
}

/** What the features read and write once the caller is known. */
const RELATIONS = FEATURES.flatMap(({ schema }) => schema.grants)
  .flatMap((granted) => ('table' in granted ? granted.table : []))
  .filter((table) => table !== 'application');

const FORM = 'application/x-www-form-urlencoded';
const WRONG = `Basic ${Buffer.from('ci_unknown:cs_wrong').toString('base64')}`;

const credentials = ({ clientId, clientSecret }: ArrangedApplication) => ({
  client_id: clientId,
  client_secret: clientSecret,
});
const bulk = (id: string): object => ({ ids: [id], patch: { classification: 'PUBLIC' } });
