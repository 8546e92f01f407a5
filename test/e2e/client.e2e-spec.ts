import { ComplianceClient, MemoryTokenStore, Problem, type ClientOptions } from '#libs/client';
import { readFileSync } from 'node:fs';
import { CONTRACT_FILE } from '../contract/contract-files';
import { type TestApp, startApp, startInstance } from '../support/start-app';

describe('The client', () => {
  let app: TestApp;
  let workspace: string;
  let api: ComplianceClient;
  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    api = await aClient();
  });
  afterAll(() => app.stop());

  const aClient = async (options: Partial<ClientOptions> = {}): Promise<ComplianceClient> =>
    new ComplianceClient({ baseUrl: app.origin, ...(await app.arrange.anApplication(workspace)), ...options });
  /** Returns the log lines of a route after the first `since`. A log line follows the response. */
  const requests = async (wanted: string, since: number, of = app) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return of.logLines.slice(since).filter(({ route }) => route === wanted);
  };

  it("has a method for every operation except the token's and discovery", () => {
    const { paths } = JSON.parse(readFileSync(CONTRACT_FILE, 'utf8')) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const operations = Object.values(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    const methods = Object.getOwnPropertyNames(ComplianceClient.prototype).filter((name) => name !== 'constructor');
    // Discovery is for clients that know less than this one. Checkpoints are for auditors, who verify them.
    const discovery = ['getAuthorizationServer', 'getProtectedResource', 'getKeySet'];
    const others = ['issueToken', ...discovery, 'getAuditCheckpoint'];
    const expected = operations.filter((name) => !others.includes(name));
    const shorter: Record<string, string> = {
      getMe: 'me',
      listAssetChanges: 'changes',
      listComputerChanges: 'computerChanges',
      listAuditEvents: 'auditEvents',
      getAssetSummary: 'summary',
      getComputerSummary: 'computerSummary',
      listAssetHistory: 'assetHistory',
      listComputerHistory: 'computerHistory',
    };
    // The same operations as of the lists.
    const streams = ['export', 'exportComputers'];
    expect(methods.sort()).toEqual([...streams, ...expected.map((name) => shorter[name] ?? name)].sort());
  });

  it('requests one token for concurrent calls and reuses it', async () => {
    const before = app.logLines.length;
    const client = await aClient();
    await Promise.all(Array.from({ length: 20 }, () => client.listCategories().pages().next()));
    await client.listComputers().pages().next();
    expect(await requests('/oauth/token', before)).toHaveLength(1);
  });

  it('returns every item of a list exactly once, in each of several walks', async () => {
    const space = await app.arrange.aWorkspace();
    const ids: string[] = [];
    for (let made = 0; made < 7; made += 1) ids.push((await app.arrange.anAsset(space)).id);
    const computer = await app.arrange.anAsset(space, { type: 'COMPUTER', name: 'ada-mbp' });
    const client = new ComplianceClient({ baseUrl: app.origin, ...(await app.arrange.anApplication(space)) });

    const list = client.listAssets({ categoryKey: 'CUSTOM', pageSize: 3 });
    for (let walk = 0; walk < 2; walk += 1) {
      const seen: string[] = [];
      for await (const asset of list) seen.push(asset.id);
      expect(seen.sort()).toEqual([...ids].sort());
    }
    const sizes: number[] = [];
    for await (const { results, pageInfo } of list.pages()) {
      sizes.push(results.length);
      expect(pageInfo.totalCount).toBe(7);
    }
    expect(sizes).toEqual([3, 3, 1]);

    const ofSome = client.listAssets({ categoryKeyAnyOf: ['COMPUTER', 'EMPLOYEE'], pageSize: 1 });
    for await (const { id } of ofSome) expect(id).toBe(computer.id);
    for await (const { id, name } of client.listComputers()) expect([id, name]).toEqual([computer.id, 'ada-mbp']);
    expect((await client.getComputer(computer.id)).body.name).toBe('ada-mbp');
    await app.arrange.aTagKey(space, 'env', { value: 'production' });
    for await (const tagKey of client.listTagKeys({ readOnly: false })) {
      expect(tagKey).toEqual({ key: 'env', value: 'production', readOnly: false, assetCount: 0 });
    }
    const keys: string[] = [];
    for await (const { key } of client.listCategories({ pageSize: 2 })) keys.push(key);
    expect(keys).toEqual(['CLOUD', 'COMPUTER', 'CUSTOM', 'INFORMATION', 'EMPLOYEE']);
  });

  it('continues from the cursor of an earlier walk', async () => {
    const first = await api.listCategories({ pageSize: 2 }).pages().next();
    const pageCursor = first.value?.pageInfo.endCursor as string;
    const rest: string[] = [];
    for await (const { key } of api.listCategories({ pageSize: 2, pageCursor })) rest.push(key);
    expect(rest).toEqual(['CUSTOM', 'INFORMATION', 'EMPLOYEE']);
  });

  it('shows what was true: one item, whole lists, states, and counts by day', async () => {
    const space = await app.arrange.aWorkspace();
    const { id } = await app.arrange.anAsset(space, { type: 'COMPUTER' });
    const client = new ComplianceClient({ baseUrl: app.origin, ...(await app.arrange.anApplication(space)) });
    await client.updateAsset(id, { description: 'one' });
    const asOf = (await client.assetHistory(id).pages().next()).value?.results[0]?.validFrom as string;
    await client.updateAsset(id, { description: 'two' });
    await app.arrange.anAsset(space, { type: 'COMPUTER' });

    const { body, etag } = await client.getAsset(id, { asOf, expand: 'owner' });
    expect([body.description, body.owner, etag]).toEqual(['one', null, null]);
    expect((await client.getComputer(id, { asOf })).body.updatedAt).toBe(body.updatedAt);
    const exported: unknown[] = [];
    for await (const asset of client.export({ asOf })) exported.push(asset.description);
    for await (const computer of client.exportComputers({ asOf })) exported.push(computer.id);
    expect(exported).toEqual(['one', id]);
    const states: unknown[] = [];
    for await (const { asset } of client.assetHistory(id, { pageSize: 1 })) states.push(asset?.description);
    for await (const { computer } of client.computerHistory(id, { pageSize: 2 })) states.push(computer?.id);
    expect(states).toEqual(['two', 'one', null, id, id, id]);
    const { results } = (await client.summary()).body;
    expect(results.map(({ categories }) => categories[1]?.total)).toEqual([2]);
    const { date } = results[0] ?? {};
    expect((await client.computerSummary({ from: date, to: date })).body.results).toMatchObject([{ date, total: 2 }]);
  });

  it('returns whose token it uses and how many requests are left', async () => {
    const application = await app.arrange.anApplication(workspace, ['inventory:read']);
    const client = new ComplianceClient({ baseUrl: app.origin, ...application });

    const { body } = await client.me();

    expect([body.workspace.id, body.application.clientId]).toEqual([workspace, application.clientId]);
    expect([body.grantedScopes, body.token.scopes]).toEqual([['inventory:read'], ['inventory:read']]);
    expect(body.limits.read).toEqual({ burst: 100_000, perMinute: 100_000, remaining: expect.any(Number) as number });
  });

  it('checks the health of the service without a token', async () => {
    const before = app.logLines.length;
    const stranger = new ComplianceClient({ baseUrl: `${app.origin}/`, clientId: 'ci_x', clientSecret: 'cs_x' });
    expect((await stranger.getHealth()).body).toEqual({ status: 'ok', version: '1.0.0' });
    expect(await requests('/oauth/token', before)).toEqual([]);
  });

  describe('updates', () => {
    it('one asset with a fresh idempotency key and returns its version', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      const first = await api.updateAsset(id, { description: 'Reviewed', classification: 'INTERNAL' });
      expect(first).toMatchObject({
        body: { id, description: 'Reviewed', classification: 'INTERNAL' },
        etag: '"2"',
        replayed: false,
        requestId: expect.any(String) as string,
      });
      const second = await api.updateAsset(id, { description: null }, { ifMatch: '"2"' });
      expect([second.body.description, second.replayed]).toEqual(['Reviewed', false]);
      const third = await api.updateAsset(id, { description: null }, { nullClears: true });
      expect(third.body.description).toBeNull();
      expect((await api.getAsset(id)).etag).toBe(third.etag);
    });

    it('dry-runs a bulk update', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      const { body } = await api.updateAssets({ ids: [id], patch: { description: 'Reviewed' }, dryRun: true });
      expect(body).toMatchObject({ successfulUpdates: 1, changes: [{ id, fields: ['description'] }] });
      expect((await api.getAsset(id)).body.description).toBeNull();
    });

    it('replays the response for a repeated key', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      const options = { idempotencyKey: 'nightly-review-7' };
      const first = await api.updateAsset(id, { description: 'Nightly' }, options);
      const again = await api.updateAsset(id, { description: 'Nightly' }, options);
      expect([first.replayed, again.replayed]).toEqual([false, true]);
      expect(again.body).toEqual(first.body);
      await expect(api.updateAsset(id, { description: 'Other' }, options)).rejects.toMatchObject({
        code: 'idempotency_conflict',
      });
    });

    it('several assets at once', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      const { body } = await api.updateAssets({ ids: [id, workspace], patch: { classification: 'PUBLIC' } });
      expect(body).toMatchObject({ successfulUpdates: 1, failedUpdates: 1, failures: [{ id: workspace }] });
    });

    it('throws when somebody else changed the asset first', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      const { etag } = await api.getAsset(id);
      await api.updateAsset(id, { description: 'Theirs' });
      const update = api.updateAsset(id, { description: 'Ours' }, { ifMatch: etag as string });
      await expect(update).rejects.toMatchObject({ name: 'Problem', status: 412, code: 'precondition_failed' });
    });
  });

  describe('problem errors', () => {
    it('carry code, status, detail, invalid inputs and request id', async () => {
      const before = app.logLines.length;
      const problem = (await api
        .listAssets({ pageSize: 101 })
        .pages()
        .next()
        .catch((error: unknown) => error)) as Problem;
      expect(problem).toBeInstanceOf(Problem);
      expect(problem).toMatchObject({
        code: 'validation_failed',
        status: 400,
        detail: expect.stringContaining('pageSize') as string,
        errors: [{ parameter: 'pageSize' }],
        requestId: app.logLines.at(-1)?.['requestId'],
        retryAfterSeconds: null,
      });
      expect(await requests('/v1/inventory/assets', before)).toHaveLength(1);
    });

    it('of the token endpoint are thrown by the call that needed a token', async () => {
      const client = await aClient({ clientSecret: 'wrong' });
      await expect(client.getAsset(workspace)).rejects.toMatchObject({ code: 'invalid_client', status: 401 });
    });

    it('carry Retry-After, and the call does not wait longer than the caller allows', async () => {
      const limited = await startInstance(app, { RATE_LIMIT_READ: '1/1' });
      try {
        const client = await aClient({ baseUrl: limited.origin, retry: { longestRetryAfterSeconds: 10 } });
        await client.getAsset((await app.arrange.anAsset(workspace)).id);
        const problem = (await client.getAsset(workspace).catch((error: unknown) => error)) as Problem;
        expect(problem).toMatchObject({ code: 'rate_limited', status: 429 });
        expect(problem.retryAfterSeconds).toBeGreaterThan(10);
      } finally {
        await limited.stop();
      }
    });
  });

  describe('an aborted call', () => {
    it('throws the reason at once, even between attempts', async () => {
      const limited = await startInstance(app, { RATE_LIMIT_READ: '1/1' });
      try {
        const client = await aClient({ baseUrl: limited.origin });
        await client.listComputers().pages().next();
        const since = Date.now();
        const reason = new Error('enough');
        const controller = new AbortController();
        setTimeout(() => controller.abort(reason), 150);
        const walk = client.listComputers({}, { signal: controller.signal }).pages().next();
        await expect(walk).rejects.toBe(reason);
        expect(Date.now() - since).toBeLessThan(10_000);
        await expect(client.getHealth({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      } finally {
        await limited.stop();
      }
    });

    it('stops waiting for the token, which other calls still get', async () => {
      const credentials = await app.arrange.anApplication(workspace);
      const tokenStore = new MemoryTokenStore();
      const client = await aClient({ ...credentials, tokenStore });
      const before = app.logLines.length;
      // Another worker is about to request a token.
      const unlock = await tokenStore.tryLock(`${credentials.clientId}@${app.origin}`);
      const given = client.getAsset(workspace, { signal: AbortSignal.timeout(50) });
      const other = client.listComputers().pages().next();
      await expect(given).rejects.toMatchObject({ name: 'TimeoutError' });
      await unlock?.();
      expect((await other).value?.pageInfo.hasNextPage).toBe(false);
      expect(await requests('/oauth/token', before)).toHaveLength(1);
    });
  });

  describe('when its token is refused', () => {
    it('looks for a newer token in the store before it requests one', async () => {
      const credentials = await app.arrange.anApplication(workspace);
      const tokenStore = new MemoryTokenStore();
      const [one, other] = [1, 2].map(
        () => new ComplianceClient({ baseUrl: app.origin, ...credentials, tokenStore }),
      ) as [ComplianceClient, ComplianceClient];
      await Promise.all([one, other].map((client) => client.listComputers().pages().next()));
      // A client without the store requests a token, which supersedes the shared one.
      const stranger = new ComplianceClient({ baseUrl: app.origin, ...credentials });
      await stranger.listComputers().pages().next();
      const before = app.logLines.length;
      await one.listComputers().pages().next();
      expect(await requests('/oauth/token', before)).toHaveLength(1);
      await other.listComputers().pages().next();
      expect(await requests('/oauth/token', before)).toHaveLength(1);
    });

    it('gives up with an explanation when each new token is superseded at once', async () => {
      const credentials = await app.arrange.anApplication(workspace);
      const form = { grant_type: 'client_credentials', client_id: credentials.clientId } as const;
      const client = new ComplianceClient({
        baseUrl: app.origin,
        ...credentials,
        fetch: async (input, init) => {
          if ((input as Request).url.includes('/v1/')) {
            await app.client().requestToken({ ...form, client_secret: credentials.clientSecret });
          }
          return fetch(input, init);
        },
      });
      await expect(client.getAsset(workspace)).rejects.toMatchObject({ code: 'token_superseded' });
    });

    it('renews an expired token without telling the caller', async () => {
      const shortLived = await startInstance(app, { ACCESS_TOKEN_TTL_SECONDS: '1' });
      try {
        const client = await aClient({ baseUrl: shortLived.origin });
        const before = shortLived.logLines.length;
        await client.listComputers().pages().next();
        await new Promise((resolve) => setTimeout(resolve, 950));
        await client.listComputers().pages().next();
        expect(await requests('/oauth/token', before, shortLived)).toHaveLength(2);
        expect(shortLived.logLines.slice(before).filter(({ status }) => status === 401)).toEqual([]);
      } finally {
        await shortLived.stop();
      }
    });
  });
});
