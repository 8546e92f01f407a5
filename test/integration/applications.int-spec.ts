import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { Applications, Workspaces } from '#libs/auth/operators';
import { ApplicationChanges } from '../../libs/auth/src/typeorm/application-changes';
import { type WorkspaceId } from '#libs/kernel';
import { type Settings } from '#libs/platform/config';
import { Database } from '#libs/platform/database';
import { RedisClient } from '#libs/platform/redis';
import { GrantCacheRedis } from '../../libs/auth/src/redis/grant-cache.redis';
import { ClientSecretsSystem } from '../../libs/auth/src/system/client-secrets.system';
import { GrantRepositoryTypeorm } from '../../libs/auth/src/typeorm/grant-repository.typeorm';
import { operatorDataSource } from '../support/database-connection';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { anAuditRecorder } from '../support/audit-recorder';

describe("Operators' applications on one connection", () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let workspaces: Workspaces;
  let applications: Applications;
  let grants: GrantRepositoryTypeorm;
  let ours: WorkspaceId;
  let theirs: WorkspaceId;
  let first: Awaited<ReturnType<Applications['create']>>;
  let second: typeof first;
  let foreign: typeof first;
  const secrets = new ClientSecretsSystem(Buffer.alloc(32, 'pepper'));

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await operatorDataSource(database);
    workspaces = new Workspaces(new Database(dataSource));
    const cache = new GrantCacheRedis(new RedisClient(null), { databaseStandbyUrls: [] } as unknown as Settings, false);
    const opened = new Database(dataSource);
    const changes = new ApplicationChanges(opened, anAuditRecorder(), cache);
    applications = new Applications(opened, changes, secrets);
    grants = new GrantRepositoryTypeorm(new Database(dataSource));
    const made = [await workspaces.create('ours', 'Ours'), await workspaces.create('a-theirs', 'Theirs')];
    if (!made[0] || !made[1]) throw new Error('A new database has workspaces already.');
    [ours, theirs] = [made[0].id, made[1].id];
    first = await applications.create(ours, 'First', ['all:read']);
    second = await applications.create(ours, 'Second', ['all:read', 'all:read']);
    foreign = await applications.create(theirs, 'Foreign', ['all:read']);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const idOf = ({ application }: typeof first): string => application.clientId;
  const digestsOf = async (clientId: string) => (await grants.findWithSecrets(clientId))?.secretDigests;

  it('lists workspaces by slug and refuses an existing slug', async () => {
    expect((await workspaces.list()).map(({ slug }) => slug)).toEqual(['a-theirs', 'ours']);
    expect(await workspaces.create('ours', 'Again')).toBeNull();
    expect(await workspaces.findBySlug('ours')).toMatchObject({ id: ours, name: 'Ours' });
    expect(await workspaces.findBySlug('none')).toBeNull();
  });

  it('lists the applications of every workspace, oldest first', async () => {
    expect(await applications.list(null)).toEqual([first.application, second.application, foreign.application]);
  });

  it('lists the applications of one workspace, oldest first', async () => {
    expect(await applications.list(ours)).toEqual([first.application, second.application]);
    expect(second.application.scopes).toEqual(['all:read']);
    expect(await applications.find(idOf(foreign))).toMatchObject({ workspaceId: theirs, name: 'Foreign' });
    expect(await applications.find('none')).toBeNull();
  });

  it('changes only the named application', async () => {
    const [before, changed] = [await applications.find(idOf(first)), idOf(second)];
    const limits = { read: { perMinute: 5, burst: 10 } };

    expect(await applications.setDisabled(changed, true)).toMatchObject({ disabled: true });
    expect(await applications.setScopes(changed, ['inventory:read'])).toMatchObject({ scopes: ['inventory:read'] });
    expect(await applications.setLimits(changed, limits)).toMatchObject({ limits });
    const both = { ...limits, write: { perMinute: 1, burst: 2 } };
    expect(await applications.setLimits(changed, { write: both.write })).toMatchObject({ limits: both });
    expect(await applications.clearLimits(changed)).toMatchObject({ limits: {} });
    expect(await applications.setDisabled('none', true)).toBeNull();
    expect(await applications.find(idOf(first))).toEqual(before);
  });

  it('accepts the previous secret during its overlap, or not at all without one', async () => {
    const clientId = idOf(first);
    const generation = (await applications.find(clientId))?.generation ?? 0n;

    const overlapping = await applications.rotateSecret(clientId, 60);
    expect(overlapping?.application.generation).toBe(generation);
    expect(overlapping?.application.previousSecretExpiresAt?.getTime()).toBeGreaterThan(Date.now());
    const [replaced = '', previous = ''] = [overlapping?.clientSecret, first.clientSecret];
    expect(await digestsOf(clientId)).toEqual([secrets.digest(replaced), secrets.digest(previous)]);

    const ended = await applications.rotateSecret(clientId, null);
    expect(ended?.application.generation).toBeGreaterThan(generation);
    expect(ended?.application.previousSecretExpiresAt).toBeNull();
    expect(await digestsOf(clientId)).toEqual([secrets.digest(ended?.clientSecret ?? '')]);
  });

  describe('with an overlap of two secrets', () => {
    let clientId: string;
    let old: string;
    let current: string;
    beforeEach(async () => {
      const made = await applications.create(ours, 'Rotated', ['all:read']);
      clientId = idOf(made);
      old = made.clientSecret;
      current = (await applications.rotateSecret(clientId, 60))?.clientSecret ?? '';
    });
    afterEach(async () => {
      await applications.setDisabled(clientId, true);
      await applications.delete(clientId);
    });

    const issueFor = async (secret: string): Promise<bigint> => {
      const grant = await grants.find(clientId);
      if (!grant) throw new Error('The application is gone.');
      return (await grants.beginGeneration(grant, { secretDigest: secrets.digest(secret) }, randomUUID())) ?? 0n;
    };
    const generation = async (): Promise<bigint> => (await applications.find(clientId))?.generation ?? 0n;
    const uses = async () =>
      (await applications.find(clientId))?.credentials.map(({ id, lastUsedAt, expiresAt }) => [
        id,
        lastUsedAt !== null,
        expiresAt !== null,
      ]);

    it('tells when each was last used, and when the old one ends', async () => {
      expect(await uses()).toEqual([
        ['current', false, false],
        ['previous', false, true],
      ]);
      await issueFor(old);
      expect(await uses()).toEqual([
        ['current', false, false],
        ['previous', true, true],
      ]);
      await issueFor(current);
      expect(await uses()).toEqual([
        ['current', true, false],
        ['previous', true, true],
      ]);
      const [now, before] = (await applications.find(clientId))?.credentials ?? [];
      expect(now?.createdAt?.getTime()).toBeGreaterThan(before?.createdAt?.getTime() ?? Infinity);
      expect(await applications.find(clientId)).toMatchObject({ issuedAt: now?.lastUsedAt });
    });

    it.each(['1 minute', '-1 second'])(
      'ends an old one that has %s left, with the live token that it obtained',
      async (left) => {
        const live = await issueFor(old);
        const ends = `UPDATE application SET previous_secret_expires_at = now() + $2::interval WHERE client_id = $1`;
        await database.admin.query(ends, [clientId, left]);

        await applications.endOldSecret(clientId);

        expect(await generation()).toBeGreaterThan(live);
        expect(await grants.findUnlessEnded(clientId, live)).toBeNull();
        expect(await digestsOf(clientId)).toEqual([secrets.digest(current)]);
        expect(await uses()).toEqual([['current', false, false]]);
      },
    );

    it('keeps a live token of the current one, whatever the old one obtained before', async () => {
      await issueFor(old);
      const live = await issueFor(current);

      await applications.endOldSecret(clientId);

      expect(await generation()).toBe(live);
      expect(await grants.findUnlessEnded(clientId, live)).not.toBeNull();
      // Without an old secret there is nothing to end.
      expect((await applications.endOldSecret(clientId))?.generation).toBe(live);
    });

    it('ends what the oldest one obtained at a second rotation, but no token of a later one', async () => {
      const [ofOldest, live] = [await issueFor(old), await issueFor(current)];

      await applications.rotateSecret(clientId, 60);

      expect(await grants.findUnlessEnded(clientId, ofOldest)).toBeNull();
      expect(await generation()).toBe(live);
    });

    it('ends the live token of the oldest one at a second rotation', async () => {
      const live = await issueFor(old);

      await applications.rotateSecret(clientId, 60);

      expect(await generation()).toBeGreaterThan(live);
    });

    it('ends no token of the current one when the old one was never used', async () => {
      const [ofCurrent] = [await issueFor(current), await issueFor(current)];

      await applications.endOldSecret(clientId);

      expect(await grants.findUnlessEnded(clientId, ofCurrent)).not.toBeNull();
    });

    it('ends what the old one obtained after the clock of Postgres was set back', async () => {
      await issueFor(old);
      const ahead = 'UPDATE application SET generation = generation + 3600000000 WHERE client_id = $1';
      await database.admin.query(ahead, [clientId]);
      const [ofOld, live] = [await issueFor(old), await issueFor(current)];

      await applications.endOldSecret(clientId);

      expect(await grants.findUnlessEnded(clientId, ofOld)).toBeNull();
      expect(await grants.findUnlessEnded(clientId, live)).not.toBeNull();
    });

    it('ends a live token that an earlier release issued, because its secret is unknown', async () => {
      const live = await issueFor(current);
      await database.admin.query(
        'UPDATE application SET secret_last_used_at = NULL, secret_created_at = NULL WHERE client_id = $1',
        [clientId],
      );

      await applications.endOldSecret(clientId);

      expect(await generation()).toBeGreaterThan(live);
      expect((await applications.find(clientId))?.credentials[0]).toMatchObject({ createdAt: null, lastUsedAt: null });
    });
  });

  it('deletes a disabled application only, and none twice', async () => {
    const { application } = await applications.create(ours, 'Leaving', ['all:read']);
    await expect(applications.delete(application.clientId)).rejects.toThrow('is enabled. Disable it first.');
    await applications.setDisabled(application.clientId, true);
    expect(await applications.delete(application.clientId)).toMatchObject({ name: 'Leaving' });
    expect(await applications.find(application.clientId)).toBeNull();
    expect(await applications.delete(application.clientId)).toBeNull();
    expect(await applications.find(idOf(foreign))).not.toBeNull();
  });

  const sql = async (text: string, ...values: unknown[]) => (await database.admin.query(text, values)).rows as object[];
  const grantOf = async (one: typeof first) => {
    const grant = await grants.find(idOf(one));
    if (!grant) throw new Error('The application is gone.');
    return grant;
  };
  const setDisabled = (one: typeof first, disabled: boolean) => applications.setDisabled(idOf(one), disabled);

  it('begins a token by a key and an assertion of the application alone, once', async () => {
    const add = `INSERT INTO application_key (workspace_id, client_id, kid, algorithms, jwk)
      VALUES ($1, $2, 'k', '{ES256}', '{}') RETURNING id`;
    const [own, neighbour, stranger] = (
      await Promise.all([sql(add, ours, idOf(first)), sql(add, ours, idOf(second)), sql(add, theirs, idOf(foreign))])
    ).map(([row]) => (row as { id: string }).id) as [string, string, string];
    await setDisabled(second, false);
    const grant = await grantOf(first);
    const begin = (keyId: string, jti: string, aheadMs = 60_000, of = grant) =>
      grants.beginGeneration(
        of,
        { keyId, jtiDigest: Buffer.from(jti), expiresAt: new Date(Date.now() + aheadMs) },
        randomUUID(),
      );
    const isUsed = async (one: typeof first, jti: string) =>
      (await grants.findWithKeys(idOf(one), Buffer.from(jti)))?.isUsed;

    expect([await begin(neighbour, 'a'), await begin(stranger, 'a'), await begin(own, 'a', -1)]).toEqual([
      null,
      null,
      null,
    ]);
    await setDisabled(first, true);
    expect(await begin(own, 'a')).toBeNull();
    await setDisabled(first, false);
    expect(await isUsed(first, 'a')).toBe(false);
    const begun = await begin(own, 'a');
    expect([begun, await begin(own, 'a')]).toEqual([expect.any(BigInt), null]);
    expect(await sql('SELECT client_id FROM application_key WHERE last_used_at IS NOT NULL')).toEqual([
      { client_id: idOf(first) },
    ]);
    // Another one does not make the first one usable again.
    expect(await begin(own, 'b')).toBeGreaterThan(begun ?? 0n);
    expect(await begin(own, 'a')).toBeNull();
    expect([await isUsed(first, 'a'), await isUsed(second, 'a')]).toEqual([true, false]);
    expect(await begin(neighbour, 'n', 60_000, await grantOf(second))).not.toBeNull();
    const found = await grants.findWithKeys(idOf(first), Buffer.from('a'));
    expect(found?.keys.map(({ id }) => id)).toEqual([own]);
    // It is over, and remembered for an hour in case the clock is set back.
    await sql(`UPDATE used_assertion SET expires_at = now() - interval '59 minutes' WHERE client_id = $1`, idOf(first));
    expect(await isUsed(first, 'a')).toBe(false);
    expect(await begin(own, 'c')).not.toBeNull();
    const left = 'SELECT count(*)::integer AS n FROM used_assertion WHERE client_id = $1';
    expect(await sql(left, idOf(first))).toEqual([{ n: 3 }]);
    await sql(`UPDATE used_assertion SET expires_at = now() - interval '61 minutes'`);
    expect(await begin(own, 'a')).not.toBeNull();
    expect([await sql(left, idOf(first)), await sql(left, idOf(second))]).toEqual([[{ n: 1 }], [{ n: 1 }]]);
  });

  describe('with trusts', () => {
    const ISSUER = 'https://issuer.example';
    const KEY = { kid: 'k', algorithms: ['ES256'], jwk: { kty: 'EC' } };
    interface Changes {
      readonly issuer?: string;
      readonly state?: string;
      readonly age?: string;
      readonly given?: boolean;
      readonly insecure?: boolean;
      readonly of_operator?: boolean;
      /** Null: never. */
      readonly attempted?: string | null;
      readonly created?: string;
    }
    const trust = async (one: typeof first, changes: Changes = {}): Promise<string> => {
      const { issuer = ISSUER, state = 'READY', age = '1 minute', given = false, insecure = false } = changes;
      const [row] = await sql(
        `INSERT INTO application_trust (workspace_id, client_id, issuer, subject, state, given, insecure, of_operator, keys,
           keys_at, attempted_at, created_at)
         SELECT workspace_id, client_id, $2, 's', $3, $4, $5, $6, $7, now() - $8::interval, now() - $9::interval,
                now() - $10::interval
           FROM application WHERE client_id = $1 RETURNING id`,
        ...[idOf(one), issuer, state, given, insecure, changes.of_operator ?? false, JSON.stringify([KEY]), age],
        ...[changes.attempted === undefined ? '1 second' : changes.attempted, changes.created ?? '2 hours'],
      );
      return (row as { id: string }).id;
    };
    const claim = async () =>
      (await sql('SELECT ids FROM claim_trusted_issuers(8)')).map((row) => (row as { ids: string[] }).ids.sort());
    afterEach(() => sql('DELETE FROM application_trust'));

    it('finds those of the application in the issuer, with a set that may be used', async () => {
      const own = await trust(first);
      const old = await trust(first, { given: true, age: '400 days' });
      await trust(second);
      await trust(foreign);
      await trust(first, { issuer: `${ISSUER}/` });
      await trust(first, { state: 'PENDING' });
      await trust(first, { state: 'FAILED' });
      await trust(first, { age: '7 days 1 second' });
      const found = await grants.findWithTrusts(idOf(first), ISSUER, 'k', 'ES256');
      expect(found?.trusts.map(({ id }) => id).sort()).toEqual([own, old].sort());
      expect(found?.trusts[0]?.keys).toEqual([KEY]);
      const keysOf = async (kid: string | null, algorithm: string) =>
        (await grants.findWithTrusts(idOf(first), ISSUER, kid, algorithm))?.trusts.map(({ keys }) => keys.length);
      const held = [await keysOf(null, 'ES256'), await keysOf('other', 'ES256'), await keysOf('k', 'RS256')];
      expect(held).toEqual([1, 0, 0].map((count) => [count, count]));
    });

    it('begins a token by one that still holds the key', async () => {
      const own = await trust(first);
      const grant = await grantOf(first);
      const begin = (id: string, key = KEY) =>
        grants.beginGeneration(
          grant,
          { trust: { id, subject: 's', audience: null, insecure: false, keys: [key] }, key },
          randomUUID(),
        );
      const unusable = [await trust(first, { state: 'FAILED' }), await trust(first, { age: '7 days 1 second' })];
      for (const id of [...unusable, await trust(second), await trust(foreign), randomUUID()]) {
        expect(await begin(id)).toBeNull();
      }
      for (const key of [
        { ...KEY, kid: 'l' },
        { ...KEY, jwk: { kty: 'OKP' } },
      ])
        expect(await begin(own, key)).toBeNull();
      await setDisabled(first, true);
      expect(await begin(own)).toBeNull();
      await setDisabled(first, false);
      expect(await begin(own)).not.toBeNull();
      expect(await sql('SELECT id FROM application_trust WHERE last_used_at IS NOT NULL')).toEqual([{ id: own }]);
    });

    it('has key sets fetched in turn with those of other workspaces', async () => {
      const [crowd, few] = [new Set<string>(), new Set<string>()];
      for (let n = 0; n < 20; n += 1)
        crowd.add(await trust(foreign, { issuer: `${ISSUER}/${n}`, attempted: `${20 + n} minutes` }));
      for (let n = 0; n < 2; n += 1)
        few.add(await trust(first, { issuer: `${ISSUER}/f${n}`, attempted: '11 minutes' }));
      const claimed = (await claim()).flat();
      expect([claimed.length, claimed.filter((id) => few.has(id)).length]).toEqual([8, 2]);
    });

    it('has a key set fetched when it is due, and never a given one', async () => {
      const due = await Promise.all([
        trust(first, { issuer: `${ISSUER}/1`, attempted: '10 minutes 1 second' }),
        trust(first, { issuer: `${ISSUER}/2`, attempted: '-1 minute' }),
        trust(first, { issuer: `${ISSUER}/3`, state: 'PENDING', attempted: '41 seconds' }),
        trust(first, { issuer: `${ISSUER}/0`, state: 'PENDING', attempted: null }),
      ]);
      await trust(first, { issuer: `${ISSUER}/4`, attempted: '9 minutes' });
      await trust(first, { issuer: `${ISSUER}/5`, state: 'PENDING', attempted: '30 seconds' });
      await trust(first, { issuer: `${ISSUER}/6`, state: 'FAILED', attempted: '1 day' });
      await trust(first, { issuer: `${ISSUER}/7`, given: true, attempted: '1 day' });
      // Of an issuer that is due, too.
      await trust(second, { issuer: `${ISSUER}/1`, state: 'FAILED', attempted: '1 day' });
      await trust(second, { issuer: `${ISSUER}/1`, given: true, attempted: '1 day' });
      expect((await claim()).flat().sort()).toEqual(due.sort());
      expect(await claim()).toEqual([]);
    });

    it('never gives a customer what was fetched with the rights of an operator', async () => {
      const alike = { attempted: '1 hour' };
      const plain = [await trust(first, alike), await trust(foreign, alike)].sort();
      const insecure = await trust(first, { ...alike, insecure: true, of_operator: true });
      const operators = await trust(first, { ...alike, of_operator: true });
      await trust(first, { insecure: true });
      expect((await claim()).sort()).toEqual([plain, [insecure], [operators]].sort());
    });

    it('keeps keys and state when a fetch fails, and what an operator gave', async () => {
      const [ready, given, waiting] = [
        await trust(first),
        await trust(first, { given: true }),
        await trust(first, { state: 'PENDING', created: '59 minutes' }),
      ];
      const settle = (keys: unknown) =>
        sql(
          `SELECT settle_trusted_issuer(array_agg(id), min(attempted_at), $1, $2) FROM application_trust GROUP BY attempted_at`,
          keys && JSON.stringify(keys),
          keys ? null : 'why',
        );
      const stored = async () => {
        const rows = await sql('SELECT id, state, failure, keys::text FROM application_trust');
        const entries = (rows as Record<string, string>[]).map(({ id = '', ...row }) => [id, row] as const);
        return Object.fromEntries(entries);
      };
      const fetched = `SELECT count(*)::integer AS n FROM application_trust WHERE keys_at > now() - interval '30 seconds'`;
      const before = await stored();
      await settle(null);
      expect(await sql(fetched)).toEqual([{ n: 0 }]);
      expect(await stored()).toEqual({
        [ready]: { ...before[ready], failure: 'why' },
        [given]: before[given],
        [waiting]: { ...before[waiting], failure: 'why' },
      });
      await settle([]);
      const fresh = { state: 'READY', failure: null, keys: '[]' };
      expect(await stored()).toEqual({
        [ready]: fresh,
        [given]: before[given],
        [waiting]: fresh,
      });
      expect(await sql(fetched)).toEqual([{ n: 2 }]);
    });

    it('tells the ages of sets that are in use, those nearest to their alert first', async () => {
      const given = await trust(first, { given: true, age: '3 hours' });
      const young = await trust(first, { age: '1 hour' });
      const ids = [await trust(foreign, { age: '2 hours' }), young, given];
      await trust(first, { state: 'PENDING', age: '4 hours' });
      const ages = await sql('SELECT id, given FROM ages_of_trusted_keys(500)');
      expect(ages).toEqual(ids.map((id, index) => ({ id, given: index === 2 })));
      expect(await sql('SELECT id FROM ages_of_trusted_keys(1)')).toEqual([{ id: ids[0] }]);
    });
  });
});
