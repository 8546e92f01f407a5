import { DataSource } from 'typeorm';
import { Applications, Workspaces } from '#libs/auth/operators';
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
    applications = new Applications(new Database(dataSource), anAuditRecorder(), secrets, cache);
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
});
