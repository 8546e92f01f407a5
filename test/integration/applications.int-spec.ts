import { DataSource } from 'typeorm';
import { type WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { ApplicationRepositoryTypeorm } from '../../libs/auth/src/typeorm/application-repository.typeorm';
import { Workspaces } from '../../libs/auth/src/typeorm/workspaces';
import { dataSourceOptions } from '../../libs/platform/src/database/connections/data-source';
import { type TestDatabase, createTestDatabase, testEntities as entities } from '../support/test-database';
import { anAuditRecorder } from '../support/audit-recorder';

describe("Operators' applications on one connection", () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let workspaces: Workspaces;
  let applications: ApplicationRepositoryTypeorm;
  let ours: WorkspaceId;
  let theirs: WorkspaceId;

  beforeAll(async () => {
    database = await createTestDatabase();
    const connection = { url: database.migrationDatabaseUrl, poolSize: 1, patience: 'operator', entities } as const;
    dataSource = await new DataSource(dataSourceOptions(connection, () => undefined)).initialize();
    workspaces = new Workspaces(new Database(dataSource));
    applications = new ApplicationRepositoryTypeorm(new Database(dataSource), anAuditRecorder());
    const [first, second] = [await workspaces.create('ours', 'Ours'), await workspaces.create('a-theirs', 'Theirs')];
    if (!first || !second) throw new Error('A new database has workspaces already.');
    [ours, theirs] = [first.id, second.id];
    for (const clientId of ['z', 'a']) await applications.create(ours, newApplication(clientId));
    await applications.create(theirs, newApplication('theirs'));
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const newApplication = (clientId: string) => ({
    clientId,
    name: `Name of ${clientId}`,
    secretDigest: Buffer.from(`secret of ${clientId}`),
    scopes: ['all:read'],
  });
  const digestsOf = async (clientId: string): Promise<string[]> =>
    ((await applications.findWithSecrets(clientId))?.secretDigests ?? []).map(String);

  it('lists workspaces by slug and refuses an existing slug', async () => {
    expect((await workspaces.list()).map(({ slug }) => slug)).toEqual(['a-theirs', 'ours']);
    expect(await workspaces.create('ours', 'Again')).toBeNull();
    expect(await workspaces.findBySlug('ours')).toMatchObject({ id: ours, name: 'Ours' });
    expect(await workspaces.findBySlug('none')).toBeNull();
  });

  it('lists the applications of one workspace, oldest first', async () => {
    expect((await applications.list(ours)).map(({ clientId }) => clientId)).toEqual(['z', 'a']);
    expect(await applications.findByClientId('theirs')).toMatchObject({ workspaceId: theirs, name: 'Name of theirs' });
    expect(await applications.findByClientId('none')).toBeNull();
  });

  it('changes only the named application', async () => {
    const before = await applications.findByClientId('z');
    const limits = { read: { perMinute: 5, burst: 10 } };

    expect(await applications.setDisabled('a', true)).toMatchObject({ disabled: true });
    expect(await applications.setScopes('a', ['inventory:read'])).toMatchObject({ scopes: ['inventory:read'] });
    expect(await applications.setLimits('a', limits)).toMatchObject({ limits });
    const both = { ...limits, write: { perMinute: 1, burst: 2 } };
    expect(await applications.setLimits('a', { write: both.write })).toMatchObject({ limits: both });
    expect(await applications.clearLimits('a')).toMatchObject({ limits: {} });
    expect(await applications.setDisabled('none', true)).toBeNull();
    expect(await applications.findByClientId('z')).toEqual(before);
  });

  it('accepts the previous secret during its overlap, or not at all without one', async () => {
    const [first, second] = [Buffer.from('first'), Buffer.from('second')];
    const generation = (await applications.findByClientId('z'))?.generation ?? 0n;

    const overlapping = await applications.rotateSecret('z', first, 60);
    expect(overlapping?.generation).toBe(generation);
    expect(overlapping?.previousSecretExpiresAt?.getTime()).toBeGreaterThan(Date.now());
    expect(await digestsOf('z')).toEqual(['first', 'secret of z']);

    const ended = await applications.rotateSecret('z', second, null);
    expect(ended?.generation).toBeGreaterThan(generation);
    expect(ended?.previousSecretExpiresAt).toBeNull();
    expect(await digestsOf('z')).toEqual(['second']);
  });
});
