import { PrimaryPositions } from '../../libs/platform/src/database/primary-positions';
import { Replica } from '../../libs/platform/src/database/replica';
import { type ReplicatedDatabase, createReplicatedDatabase } from '../support/replicated-database';

describe('A replica', () => {
  let database: ReplicatedDatabase;
  let replica: Replica;
  let said: string[];
  let cluster: string;
  beforeAll(async () => {
    database = await createReplicatedDatabase();
    const { rows } = await database.admin.query<{ id: string }>(
      'SELECT system_identifier::text AS id FROM pg_control_system()',
    );
    cluster = rows[0]?.id as string;
  });
  afterAll(() => database.drop());
  beforeEach(() => {
    said = [];
    const watcher = { used: () => said.push('used'), unused: (reason: string) => said.push(reason) };
    replica = new Replica(database.replicaUrl, 2, true, watcher);
  });
  afterEach(() => replica.close());

  /** The primary was where the replica has come to by now, so long ago. */
  const seenAgo = (milliseconds: number, of = cluster): PrimaryPositions => {
    const positions = new PrimaryPositions();
    positions.add({ at: performance.now() - milliseconds, position: 0n, timeline: '1', cluster: of });
    return positions;
  };
  const look = async (positions = seenAgo(0)): Promise<boolean> => {
    await database.admin.query('SELECT txid_current()');
    await database.standby.caughtUp(database.primary);
    await replica.look(positions);
    return replica.isUsed;
  };
  const statement = (text: string) => ({ name: `s${text.length}`, text, values: [] });

  it('is used from when it was seen to move, for what it is complete up to', async () => {
    expect(await look()).toBe(false);
    await replica.look(seenAgo(0));
    expect(replica.isUsed).toBe(false);
    expect(await look(seenAgo(1_000))).toBe(true);
    const now = performance.now();
    expect([replica.shows(-Infinity), replica.shows(now - 2_000), replica.shows(now)]).toEqual([true, true, false]);
    expect(said).toEqual(['used']);
  });

  it('that is more than ten seconds behind is not used, and is again when it has caught up', async () => {
    await look();
    expect([await look(seenAgo(9_000)), replica.shows(-Infinity)]).toEqual([true, true]);
    expect([await look(seenAgo(10_100)), replica.shows(-Infinity)]).toEqual([false, false]);
    expect(await look(seenAgo(10_500))).toBe(false);
    expect(await look()).toBe(true);
    expect(said).toEqual(['used', 'it is more than 10 s behind', 'used']);
  });

  it('that failed a read is left alone for a while', async () => {
    await look();
    expect(await look()).toBe(true);
    expect(await replica.run([statement('SELECT 1')])).toEqual([[['1']]]);
    await expect(replica.run([statement('SELECT 1 / 0')])).rejects.toThrow('division by zero');
    expect([replica.isUsed, replica.shows(-Infinity), await look()]).toEqual([false, false, false]);
    expect(said).toEqual(['used', '22012']);
  });

  it('counts its connections, and those that were not had in time', async () => {
    await look();
    expect(await look()).toBe(true);
    const slow = [1, 2].map(() => replica.run([statement('SELECT pg_sleep(0.8)')]));
    await expect(replica.run([statement('SELECT 1')])).rejects.toThrow(/timeout exceeded/);
    expect(replica.use).toEqual({ size: 2, inUse: 2, idle: 0, waiting: 0, timeouts: 1, isUsed: false });
    await Promise.all(slow);
    expect(replica.use).toMatchObject({ inUse: 0, idle: 2, timeouts: 1 });
  });

  it('is not used while it may be of the history of a former primary', async () => {
    await look();
    expect(await look()).toBe(true);
    replica.distrust();
    expect([await look(), await look()]).toEqual([false, false]);
    expect(said).toEqual(['used', 'another server is the primary now']);
  });

  it('of another server is never used, however far its log has come', async () => {
    await look();
    expect([await look(seenAgo(0, '1')), await look(seenAgo(0, '1'))]).toEqual([false, false]);
    expect(said).toEqual(['it is of another server']);
  });

  it('takes nothing but reads', async () => {
    const there = replica.run([statement('SELECT txid_current()')]);
    await expect(there).rejects.toMatchObject({ code: expect.any(String) as string });
    // Also where the address leads to a server that would take more.
    const misled = new Replica(database.databaseUrl, 1, true, { used: () => undefined, unused: () => undefined });
    const writing = misled.run([statement('CREATE TEMPORARY TABLE written ()')]);
    await expect(writing).rejects.toMatchObject({ code: '25006' });
    await misled.close();
  });
});
