import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkspaceId } from '#libs/kernel';
import { AuditCheckpointBroken } from '../../libs/audit/src/domain/audit-seal';
import { ArchiveFilesSystem } from '../../libs/audit/src/system/archive-files.system';
import { treeHashes } from '../../libs/audit/src/system/tree-hashes';
import { StoredAuditTypeorm } from '../../libs/audit/src/typeorm/stored-audit.typeorm';
import { PublishedEventsTypeorm } from '../../libs/audit/src/typeorm/published-events.typeorm';
import { PipelinedStatements } from '../../libs/platform/src/database/pipelined-statements';
import { AuditSetting } from '../support/audit-setting';

const ALL = new Date('2999-01-01');
const DAY = 86_400_000;

describe('An archive of audit events', () => {
  let setting: AuditSetting;
  let workspace: WorkspaceId;
  let directory: string;

  beforeAll(async () => (setting = await AuditSetting.open()));
  afterAll(() => setting.close());
  beforeEach(async () => {
    workspace = await setting.aWorkspace();
    directory = mkdtempSync(join(tmpdir(), 'compliance-audit-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const archive = (run = setting.archive(), before: Date | null = ALL) =>
    run.archive({ id: workspace, slug: 'acme' }, before, directory, () => undefined);
  /** One checkpoint for each number of events. */
  const seals = async (...sizes: number[]): Promise<void> => {
    for (const size of sizes) {
      await setting.record(workspace, size);
      await setting.sealer().sealAll();
    }
  };
  const kept = async (): Promise<number[]> => {
    const { rows } = await setting.database.admin.query<{ sequence: string | null }>(
      'SELECT sequence FROM audit_event WHERE workspace_id = $1 ORDER BY sequence',
      [workspace],
    );
    return rows.map(({ sequence }) => Number(sequence));
  };
  const archived = (file: string): number[] =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { sequence: number }).sequence);
  const from = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, place) => first + place);

  it('ends before the newest checkpoint, and begins after the last archive', async () => {
    await seals(2, 3, 1);

    expect(await archive()).toMatchObject({ first: 1, last: 5 });
    expect(await archive()).toBeNull();
    expect(await kept()).toEqual([6]);
    await seals(1);
    expect(await archive()).toMatchObject({ first: 6, last: 6 });
    expect(await setting.verify(workspace)).toBe('ok');
  });

  it('has only events that were recorded before the time', async () => {
    const noon = Date.UTC(2026, 0, 1, 12);
    for (const sealedAt of [noon - DAY, noon, noon + DAY]) {
      await setting.record(workspace, 2);
      await setting.seal(workspace, sealedAt);
    }
    await setting.sealer().sealAll();

    expect(await archive(setting.archive(), new Date(noon - DAY))).toBeNull();
    expect(await archive(setting.archive(), new Date(noon))).toMatchObject({ first: 1, last: 2 });
  });

  it('leaves unsealed events', async () => {
    await seals(2, 1);
    await setting.record(workspace, 2);

    expect(await archive()).toMatchObject({ first: 1, last: 2 });

    expect(await kept()).toEqual([3, 0, 0]);
    expect(await setting.verify(workspace)).toBe('ok');
    await setting.sealer().sealAll();
    expect(await setting.verify(workspace)).toBe('ok');
    expect(await archive()).toMatchObject({ first: 3, last: 3 });
  });

  it('of everything takes the newest checkpoint too, and only then lets the audit be forgotten', async () => {
    await seals(2, 1);
    await archive();
    await setting.record(workspace, 1);
    await expect(setting.forgetAudit(workspace)).rejects.toThrow(/still writes/);

    await setting.sealer().sealAll();
    expect(await archive(setting.archive(), null)).toMatchObject({ first: 3, last: 4 });
    expect(await archive(setting.archive(), null)).toBeNull();
    expect(await setting.verify(workspace)).toBe('ok');

    await setting.forgetAudit(workspace);
    const kept = 'SELECT FROM audit_checkpoint WHERE workspace_id = $1';
    expect((await setting.database.admin.query(kept, [workspace])).rowCount).toBe(0);
  });

  it.each([
    ['with the same time removes the events first', 'remove', ALL, ALL],
    ['with an earlier time removes events first', 'remove', ALL, new Date(Date.UTC(2026, 0, 2))],
    ['with a later time removes the events first', 'remove', new Date(Date.UTC(2026, 0, 2)), ALL],
    ['removes the events before they are read', 'events', ALL, ALL],
  ] as const)('loses nothing when another run %s', async (_what, step, before, beforeOfOther) => {
    for (const day of [1, 3, 5]) {
      await setting.record(workspace, 2);
      await setting.seal(workspace, Date.UTC(2026, 0, day));
    }
    await setting.sealer().sealAll();
    const store = setting.archiveStore();
    let other: Awaited<ReturnType<typeof archive>> = null;
    const carryOut = store[step].bind(store) as (...values: unknown[]) => Promise<never>;
    jest.spyOn(store, step).mockImplementation(async (...values: unknown[]) => {
      other = await archive(setting.archive(), beforeOfOther);
      return carryOut(...values);
    });

    await expect(archive(setting.archive(store), before)).rejects.toThrow(/another run.*Nothing was removed/);

    const { file, last } = other as unknown as { file: string; last: number };
    expect([...archived(file), ...(await kept())]).toEqual(from(1, 6));
    expect(await kept()).toEqual(from(last + 1, 6));
    expect(await setting.verify(workspace)).toBe('ok');
  });

  it('leaves no gap in a page from the beginning that is read meanwhile', async () => {
    await seals(200, 100, 1);
    const published = new PublishedEventsTypeorm(await setting.anotherInstance(), treeHashes);
    const betweenPortions = jest.spyOn(PipelinedStatements.prototype, 'handlePortalSuspended');
    betweenPortions.mockImplementationOnce(function (this: PipelinedStatements, connection) {
      void archive().then(() => this.handlePortalSuspended(connection));
    });

    const { changes } = await published.read(workspace, {}, { kind: 'beginning' }, 1_000);

    expect(changes.map(({ sequence }) => sequence)).toEqual(from(1, 301));
    expect(await kept()).toEqual([301]);
  });

  it.each([
    ['before the newest checkpoint', async () => void (await archive()), { sealed: 1, unsealed: 500 }],
    [
      'of a workspace that is deleted',
      async () => {
        await setting.archive().archiveAll({ id: workspace, slug: 'acme' }, directory, () => undefined);
        await setting.forgetAudit(workspace);
      },
      { sealed: 0, unsealed: 0 },
    ],
  ])('%s is no fault for a verification that reads meanwhile', async (_, archiveMeanwhile, left) => {
    for (let made = 0; made < 1_500; made += 500) await setting.record(workspace, 500);
    await setting.sealer().sealAll();
    await seals(1);
    await setting.record(workspace, 500);
    const read = Reflect.get(StoredAuditTypeorm.prototype, 'sealedEvents') as StoredAuditTypeorm['sealedEvents'];
    jest.spyOn(StoredAuditTypeorm.prototype, 'sealedEvents').mockImplementationOnce(async function* (
      this: StoredAuditTypeorm,
    ) {
      for await (const event of read.call(this)) {
        yield event;
        if (event.sequence === 1) await archiveMeanwhile();
      }
    });

    const portions: number[] = [];

    expect(await setting.audit.verify([workspace], ({ verified, known }) => portions.push(verified / known))).toEqual({
      ...{ ok: true, firstBad: null },
      ...left,
    });

    expect(await kept()).toHaveLength(left.sealed + left.unsealed);
    expect(Math.max(...portions)).toBeLessThanOrEqual(1);
  });

  it('ends no cursor that waits for a later time, until events from that time on are archived', async () => {
    const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
    const published = new PublishedEventsTypeorm(setting.api, treeHashes);
    const sealed = async (number: number): Promise<void> => {
      await setting.record(workspace, 2);
      await setting.seal(workspace, day(number).getTime());
    };
    await sealed(1);
    const waiting = await published.read(workspace, {}, { kind: 'since', since: day(10) }, 100);
    for (const number of [2, 11, 12]) await sealed(number);
    const goOn = () => published.read(workspace, {}, { kind: 'position', position: waiting.position }, 100);

    expect(await archive(setting.archive(), day(3))).toMatchObject({ last: 4 });
    expect((await goOn()).changes.map(({ sequence }) => sequence)).toEqual(from(5, 8));

    expect(await archive(setting.archive(), day(12))).toMatchObject({ last: 6 });
    await expect(goOn()).rejects.toMatchObject({ code: 'cursor_expired', faults: [{ code: 'purged' }] });
  });

  it('loses nothing when many run at once', async () => {
    await seals(50, 50, 50, 50, 1);

    const runs = await Promise.allSettled(from(1, 4).map(() => archive()));

    const files = runs.flatMap((run) => (run.status === 'fulfilled' && run.value ? [run.value.file] : []));
    const reasons = runs.flatMap((run) => (run.status === 'rejected' ? [String(run.reason)] : []));
    expect(files).toHaveLength(1);
    expect(reasons.filter((reason) => !/another run/.test(reason))).toEqual([]);
    expect([...archived(files[0] ?? ''), ...(await kept())]).toEqual(from(1, 201));
    expect(readdirSync(directory)).toHaveLength(2);
    expect(await setting.verify(workspace)).toBe('ok');
  });

  it.each([
    [`recorded_at = recorded_at - interval '1 s'`, AuditCheckpointBroken],
    ['is_floor = true', null],
    [`roots = ARRAY[sha256('')]`, AuditCheckpointBroken],
  ])('removes nothing after an alteration of a checkpoint: %s', async (change, fault) => {
    await seals(2, 2);
    await setting.tamper(workspace, `UPDATE audit_checkpoint SET ${change} WHERE workspace_id = $1 AND size = 2`);

    if (fault) await expect(archive()).rejects.toThrow(fault);
    else expect(await archive()).toBeNull();

    expect(await kept()).toEqual(from(1, 4));
  });

  it('removes nothing when the events are not those of the checkpoint', async () => {
    await seals(3, 1);
    await setting.tamper(
      workspace,
      'UPDATE audit_event SET sequence = sequence + 100 WHERE workspace_id = $1 AND sequence < 3',
      'UPDATE audit_event SET sequence = 103 - sequence WHERE workspace_id = $1 AND sequence > 100',
    );

    await expect(archive()).rejects.toThrow(/does not match the tree.*Nothing was removed/);

    expect(await kept()).toEqual(from(1, 4));
  });

  it('refuses a floor that was raised without the key', async () => {
    await seals(1, 1, 1, 1);
    await archive(setting.archive());
    await seals(1, 1);
    await setting.tamper(
      workspace,
      'UPDATE audit_checkpoint SET is_floor = true WHERE workspace_id = $1 AND size = 4',
      'DELETE FROM audit_checkpoint WHERE workspace_id = $1 AND size < 4',
    );

    await expect(archive()).rejects.toThrow(AuditCheckpointBroken);

    expect(await kept()).toEqual(from(4, 6));
  });

  it('holds one page of events at a time, however many there are', async () => {
    for (let made = 0; made < 3_500; made += 500) await setting.record(workspace, 500);
    await setting.sealer().sealAll();
    const store = setting.archiveStore();
    let inMemory = 0;
    let most = 0;
    const events = store.events.bind(store);
    jest.spyOn(store, 'events').mockImplementation(async (...values) => {
      const page = await events(...values);
      inMemory += page.length;
      most = Math.max(most, inMemory);
      return page;
    });
    const files = new ArchiveFilesSystem();
    const write = files.write.bind(files);
    jest.spyOn(files, 'write').mockImplementation((path, lines) =>
      write(
        path,
        (async function* () {
          for await (const line of lines) {
            if (inMemory > 0) inMemory -= 1;
            if (inMemory % 500 === 0) await delay(1);
            yield line;
          }
        })(),
      ),
    );

    expect(await archive(setting.archive(store, files))).toMatchObject({ first: 1, last: 3_400 });

    expect(most).toBeLessThanOrEqual(1_000);
  });
});
