import { LogDisk, SMALL_LOG } from '../support/log-disk';
import { SmallDisk } from '../support/small-disk';
import { startTemporaryPostgres } from '../support/temporary-postgres';
import { FailoverSetting } from './failover-setting';
import { FaultSetting } from './fault-setting';
import { MixedLoad } from './mixed-load';
import { MINUTE, sized, tell } from './sizes';

const ROUNDS = sized({ short: 1, long: 10 });
/** Minimum number of responses of each kind in each phase. */
const RESPONSES = sized({ short: 5, long: 40 });
const ALL = { list: RESPONSES, get: RESPONSES, write: RESPONSES, token: RESPONSES };
const READS = { list: RESPONSES, get: RESPONSES };
const CHANGES = { write: RESPONSES, token: RESPONSES };

const endOf = async (load: MixedLoad, setting: FaultSetting): Promise<void> => {
  await load.end();
  expect(load.faults).toEqual([]);
  expect(await setting.faults()).toEqual([]);
};
/** Outcomes of these kinds, except requests during which the phase changed. */
const words = (load: MixedLoad, phase: string, kinds: readonly ('list' | 'get' | 'write' | 'token')[]): string[] => [
  ...new Set(kinds.flatMap((kind) => Object.keys(load.words(phase, kind)))),
];

describe('While Postgres refuses writes', () => {
  let failover: FailoverSetting;
  let setting: FaultSetting;
  beforeAll(async () => {
    failover = await FailoverSetting.open('asynchronous');
    setting = failover.faults;
  }, MINUTE);
  afterAll(async () => {
    await MixedLoad.abandonAll();
    await failover.close();
  }, MINUTE);

  /** Expects that reads continue and writes are refused, once every connection is affected. */
  const refusesChanges = async (load: MixedLoad, phase: string): Promise<void> => {
    await load.until(`${phase}, at first`, 'service_unavailable', { write: 3, token: 3 });
    await load.until(`${phase}, at first`, 'ok', { list: 3, get: 3 });
    await load.until(phase, 'service_unavailable', CHANGES);
    await load.until(phase, 'ok', READS);
    expect(words(load, phase, ['list', 'get'])).toEqual(['ok']);
    expect(words(load, phase, ['write', 'token'])).toEqual(['service_unavailable']);
  };
  const takesAll = (load: MixedLoad, phase: string): Promise<void> => load.until(phase, 'ok', ALL);

  it(
    'because it is read-only, reads continue and writes and tokens get 503 until it accepts them',
    async () => {
      const load = await MixedLoad.begin(setting, await setting.enterWorkspace());
      for (let round = 0; round < ROUNDS; round += 1) {
        await takesAll(load, 'writable');
        await setReadOnly('on');
        await refusesChanges(load, 'read-only');
        await setReadOnly('off');
      }
      await takesAll(load, 'writable again');
      await endOf(load, setting);
    },
    ROUNDS * MINUTE,
  );

  it(
    'because the address is a standby, reads continue and writes get 503 until it is promoted',
    async () => {
      const load = await MixedLoad.begin(setting, await setting.enterWorkspace());
      await takesAll(load, 'primary');
      await failover.leadToStandby();
      await refusesChanges(load, 'standby');
      await failover.promote();
      await takesAll(load, 'promoted');
      await setting.connect();
      await endOf(load, setting);
    },
    MINUTE,
  );

  async function setReadOnly(state: 'on' | 'off'): Promise<void> {
    await setting.admin.query('SET default_transaction_read_only = off');
    await setting.admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${state}`);
    await setting.admin.query('SELECT pg_reload_conf()');
  }
});

describe('While the disk of Postgres data is full', () => {
  let setting: FaultSetting;
  let disk: SmallDisk;
  beforeAll(async () => {
    const postgres = await startTemporaryPostgres();
    disk = await SmallDisk.under(postgres);
    setting = await FaultSetting.open({ postgres });
    await setting.startInstances(...Array.from({ length: sized({ short: 1, long: 2 }) }, () => ({})));
  }, MINUTE);
  afterAll(async () => {
    await MixedLoad.abandonAll();
    await disk.empty();
    await setting.close();
    await disk.remove();
  }, MINUTE);

  it(
    'reads continue, updates get 503 and leave nothing behind, and both work once there is room',
    async () => {
      const load = await MixedLoad.begin(setting, await setting.enterWorkspace());
      for (let round = 0; round < ROUNDS; round += 1) {
        await load.until('room', 'ok', ALL);
        await disk.fill();
        // Partly filled pages still have space.
        await load.until('full, at first', 'service_unavailable', { write: 3 });
        await load.until('full', 'service_unavailable', { write: RESPONSES });
        await load.until('full', 'ok', READS);
        expect(words(load, 'full', ['list', 'get'])).toEqual(['ok']);
        await disk.empty();
      }
      await load.until('room again', 'ok', ALL);
      tell('the disk', { kind: disk.kind });
      await endOf(load, setting);
    },
    ROUNDS * MINUTE,
  );
});

describe('While the disk of the write-ahead log is full', () => {
  let setting: FaultSetting;
  let disk: LogDisk;
  beforeAll(async () => {
    const postgres = await startTemporaryPostgres({ postgresSettings: SMALL_LOG });
    disk = await LogDisk.under(postgres);
    setting = await FaultSetting.open({ postgres });
    await setting.startInstances(...Array.from({ length: sized({ short: 1, long: 2 }) }, () => ({})));
  }, MINUTE);
  afterAll(async () => {
    await MixedLoad.abandonAll();
    await disk.empty();
    await setting.close();
    await disk.remove();
  }, MINUTE);

  it(
    'every request gets 503 in time, no acknowledged write is lost, and all works once there is room',
    async () => {
      const load = await MixedLoad.begin(setting, await setting.enterWorkspace());
      for (let round = 0; round < ROUNDS; round += 1) {
        await load.until('room for the log', 'ok', ALL);
        await disk.fill();
        await load.until('none', 'service_unavailable', ALL);
        await disk.empty();
      }
      await load.until('room for the log again', 'ok', ALL);
      tell('the disk', { kind: disk.kind });
      await setting.connect();
      await endOf(load, setting);
    },
    ROUNDS * MINUTE,
  );
});
