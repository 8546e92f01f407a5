import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { ApplicationChanges, Applications, Workspaces } from '#libs/auth/operators';
import { type WorkspaceId } from '#libs/kernel';
import { type Settings } from '#libs/platform/config';
import { Database } from '#libs/platform/database';
import { RedisClient } from '#libs/platform/redis';
import { GrantCacheRedis } from '../../libs/auth/src/redis/grant-cache.redis';
import { ClientSecretsSystem } from '../../libs/auth/src/system/client-secrets.system';
import { GrantRepositoryTypeorm } from '../../libs/auth/src/typeorm/grant-repository.typeorm';
import { dataSourceOptions } from '../../libs/platform/src/database/connections/data-source';
import { type TestDatabase, createTestDatabase, testEntities as entities } from '../support/test-database';
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
    const connection = { url: database.migrationDatabaseUrl, poolSize: 1, patience: 'operator', entities } as const;
    dataSource = await new DataSource(dataSourceOptions(connection, () => undefined)).initialize();
    workspaces = new Workspaces(new Database(dataSource));
    const cache = new GrantCacheRedis(new RedisClient(null), { databaseStandbyUrls: [] } as unknown as Settings, false);
    const opened = new Database(dataSource);
    const changes = new ApplicationChanges(opened, anAuditRecorder());
    applications = new Applications(opened, changes, secrets, cache);
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
      return (await grants.beginGeneration(grant, secrets.digest(secret), randomUUID())) ?? 0n;
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

    it('ends the old one now, with the live token that it obtained', async () => {
      const live = await issueFor(old);

      await applications.endOldSecret(clientId);

      expect(await generation()).toBeGreaterThan(live);
      expect(await grants.findUnlessEnded(clientId, live)).toBeNull();
      expect(await digestsOf(clientId)).toEqual([secrets.digest(current)]);
      expect(await uses()).toEqual([['current', false, false]]);
    });

    it('keeps a live token of the current one, whatever the old one obtained before', async () => {
      await issueFor(old);
      const live = await issueFor(current);

      await applications.endOldSecret(clientId);

      expect(await generation()).toBe(live);
      expect(await grants.findUnlessEnded(clientId, live)).not.toBeNull();
      // Without an old secret there is nothing to end.
      expect((await applications.endOldSecret(clientId))?.generation).toBe(live);
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

  it('has key sets fetched in turn with those of other workspaces', async () => {
    const { admin } = database;
    const add = `INSERT INTO application_trust (workspace_id, client_id, issuer, subject, attempted_at)
      SELECT $1, $2, 'https://' || n || '.' || $2 || '.example', n, now() - make_interval(mins => $3)
        FROM generate_series(1, $4::integer) AS n`;
    await admin.query(add, [theirs, idOf(foreign), 3, 40]);
    await admin.query(add, [ours, idOf(first), 2, 2]);

    const { rows } = await admin.query(
      `SELECT client_id, count(*)::integer FROM claim_trusted_issuers(8) AS claimed
         JOIN application_trust ON id = ANY (ids) GROUP BY 1 ORDER BY 2`,
    );

    expect(rows).toEqual([
      { client_id: idOf(first), count: 2 },
      { client_id: idOf(foreign), count: 6 },
    ]);
    await admin.query('DELETE FROM application_trust');
  });
});
