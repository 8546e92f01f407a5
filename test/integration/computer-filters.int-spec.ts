import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { type Page, type WorkspaceId, assetId, newestOf } from '#libs/kernel';
import { ChangeFeed, History } from '#libs/platform/changes';
import { Database } from '#libs/platform/database';
import type { Computer } from '../../libs/computers/src/domain/computer';
import type { ComputerFilter } from '../../libs/computers/src/domain/computer-filter';
import { CHECKS } from '../../libs/computers/src/domain/posture';
import { ComputerDirectoryTypeorm } from '../../libs/computers/src/typeorm/computer-directory.typeorm';
import { openDataSource } from '../support/database-connection';
import { SET_POSTURE } from '../support/arrangement';
import { type ModelComputer, computerMatches } from '../support/computer-model';
import { type TestDatabase, addWorkspace, createTestDatabase } from '../support/test-database';

const COMPUTERS = 400;
const [LONG_AGO, RECENTLY] = [new Date('2026-01-05T10:20:00.000Z'), new Date('2026-10-31T23:59:59.999Z')];

const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value;

describe('Filters of computers', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let directory: ComputerDirectoryTypeorm;
  let here: WorkspaceId;
  const owners = [randomUUID(), randomUUID()];
  const hiddenOwner = randomUUID();
  const computers: ModelComputer[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await openDataSource(database.databaseUrl);
    const reads = new Database(dataSource);
    directory = new ComputerDirectoryTypeorm(reads, new ChangeFeed(reads), new History(reads));
    here = await addWorkspace(database.admin);
    for (const owner of owners) await insertAsset(here, { public_id: owner, sub_key: 15 });
    await insertAsset(here, { public_id: hiddenOwner, sub_key: 15, visibility: 1 });
    for (let index = 0; index < COMPUTERS; index += 1) {
      const computer = aComputer(index);
      await insert(here, computer);
      if (computer.isVisible) computers.push(computer);
    }
    // Their twins in another workspace match the same filters.
    const elsewhere = await addWorkspace(database.admin);
    for (const owner of owners) await insertAsset(elsewhere, { public_id: owner, sub_key: 15 });
    await insertAsset(elsewhere, { public_id: hiddenOwner, sub_key: 15, visibility: 1 });
    for (const computer of computers.slice(0, 40)) await insert(elsewhere, computer);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const aComputer = (index: number): ModelComputer => {
    const check = (): boolean | null => oneOf([true, true, false, null]);
    const hasRow = Math.random() < 0.9;
    const ownerId = oneOf([...owners, hiddenOwner, null]);
    return {
      id: randomUUID(),
      isVisible: Math.random() < 0.9,
      hasRow,
      managed: oneOf([true, false, null]),
      agentVersion: oneOf(['2.4.0', null]),
      checks: hasRow
        ? { ANTIVIRUS: check(), DISK_ENCRYPTION: check(), PASSWORD_MANAGER: check(), SCREEN_LOCK: check() }
        : { ANTIVIRUS: null, DISK_ENCRYPTION: null, PASSWORD_MANAGER: null, SCREEN_LOCK: null },
      ownerId,
      hasHiddenOwner: ownerId === hiddenOwner,
      source: oneOf(['mdm', 'mdm', 'edr']),
      externalId: `c-${index}`,
      serialNumber: oneOf([`S${index}`, 'To be filled by O.E.M.', null]),
      lastCheckedAt: oneOf([
        null,
        new Date(LONG_AGO.getTime() + Math.floor(Math.random() * 300) * 3_700_001),
        RECENTLY,
      ]),
    };
  };

  async function insertAsset(workspace: WorkspaceId, columns: Record<string, unknown>): Promise<string> {
    await database.admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
    const row: Record<string, unknown> = {
      ...{ workspace_id: workspace, source: 'test', external_id: randomUUID(), name: 'n', ...columns },
    };
    const names = Object.keys(row);
    const { rows } = await database.admin.query<{ id: string }>(
      `INSERT INTO asset (${names.join(', ')}) VALUES (${names.map((_, place) => `$${place + 1}`).join(', ')}) RETURNING id`,
      Object.values(row),
    );
    return rows[0]?.id as string;
  }

  async function insert(workspace: WorkspaceId, computer: ModelComputer): Promise<void> {
    const id = await insertAsset(workspace, {
      public_id: computer.id,
      sub_key: 12,
      visibility: computer.isVisible ? 0 : oneOf([1, 2]),
      owner_id: computer.ownerId,
      owner_source: computer.ownerId && 3,
      ...{ source: computer.source, external_id: computer.externalId, serial_number: computer.serialNumber },
      last_checked_at: computer.lastCheckedAt,
    });
    if (!computer.hasRow) {
      await database.admin.query('UPDATE asset SET posture = 0 WHERE workspace_id = $1 AND id = $2', [workspace, id]);
      return;
    }
    await database.admin.query('INSERT INTO computer VALUES ($1, $2, $3, $4, $5, $6, $7, $8)', [
      ...[workspace, id, computer.managed, computer.agentVersion],
      ...CHECKS.map((check) => computer.checks[check]),
    ]);
    await database.admin.query(SET_POSTURE, [workspace, id]);
  }

  const list = (filter: ComputerFilter, size = 100, after: string | null = null): Promise<Page<Computer>> =>
    directory.list(newestOf(here), filter, { size, after });

  const walk = async (filter: ComputerFilter, size: number): Promise<{ ids: string[]; totalCount: number }> => {
    const ids: string[] = [];
    for (let after: string | null = null; ;) {
      const page = await list(filter, size, after);
      ids.push(...page.items.map(({ id }) => id));
      after = page.endPosition;
      if (after === null) return { ids, totalCount: page.totalCount };
    }
  };

  const expectAsModel = async (filters: readonly ComputerFilter[]): Promise<void> => {
    const wrong: unknown[] = [];
    for (const filter of filters) {
      const expected = computers.filter((computer) => computerMatches(computer, filter)).map(({ id }) => id);
      const size = oneOf(expected.length > 50 ? [25, 100] : [7, 25, 100]);
      const { ids, totalCount } = await walk(filter, size);
      if (totalCount !== expected.length || ids.join() !== expected.join()) {
        wrong.push([filter, { totalCount, found: ids.length, expected: expected.length }]);
      }
    }
    expect(wrong).toEqual([]);
  };

  const VALUES: { readonly [Name in keyof ComputerFilter]-?: readonly Required<ComputerFilter>[Name][] } = {
    isMonitored: [true, false],
    // The computers are made later.
    get ids() {
      return [computers.slice(0, 1), computers.slice(3, 90)].map((some) => some.map(({ id }) => assetId(id)));
    },
    ownerId: [...owners, hiddenOwner, randomUUID()].map(assetId),
    ownerVisible: [true, false],
    serialNumber: ['S17', 'To be filled by O.E.M.', 'nobody'],
    externalId: ['c-3', 'c-40', 'nobody'],
    source: ['mdm', 'edr', 'nobody'],
    failingAnyOf: [...CHECKS.map((check) => [check]), ['ANTIVIRUS', 'SCREEN_LOCK'], [...CHECKS]],
    unknownAnyOf: [...CHECKS.map((check) => [check]), ['SCREEN_LOCK', 'DISK_ENCRYPTION'], [...CHECKS]],
    lastCheckedBefore: [
      ...[new Date(0), LONG_AGO, new Date(LONG_AGO.getTime() + 1), new Date('2026-01-09T11:30:00Z')],
      ...[RECENTLY, new Date(RECENTLY.getTime() + 1)],
    ],
  };
  const NAMES = Object.keys(VALUES) as (keyof ComputerFilter)[];
  const extended = (filter: ComputerFilter, name: keyof ComputerFilter): ComputerFilter[] =>
    VALUES[name].map((value) => ({ ...filter, [name]: value }));

  it('return the computers, order and total of the model, each alone', async () => {
    await expectAsModel([{}, ...NAMES.flatMap((name) => extended({}, name))]);
  });

  it('do so in every pair', async () => {
    await expectAsModel(
      NAMES.flatMap((name, index) =>
        NAMES.slice(index + 1).flatMap((other) => extended({}, name).flatMap((filter) => extended(filter, other))),
      ),
    );
  });

  it('do so in longer combinations', async () => {
    await expectAsModel(
      Array.from({ length: 300 }, () =>
        NAMES.filter(() => Math.random() < 0.45).reduce<ComputerFilter>(
          (filter, name) => oneOf(extended(filter, name)),
          {},
        ),
      ),
    );
  });
});
