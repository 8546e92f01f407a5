import { RemovedAssets } from '../../libs/inventory/src/changes/typeorm/removed-assets';
import { AssetRekey } from '../../libs/inventory/src/imports/typeorm/asset-rekey';
import { Database } from '../../libs/platform/src/database/database';
import { anAuditRecorder } from '../support/audit-recorder';
import { someoneWaits } from '../support/waiting-sessions';
import { ALL, BUCKET, EMPLOYEE, ImportSetting, LAPTOP } from '../support/import-setting';

const FORGOTTEN = `
  CREATE OR REPLACE FUNCTION draw_forgotten_ticket() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION 'A writer of % forgot its ticket.', NEW.external_id; END $$`;

describe('Change tickets', () => {
  let setting: ImportSetting;

  beforeAll(async () => {
    setting = await ImportSetting.open();
    await setting.database.admin.query(FORGOTTEN);
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());

  /** The sets of the workspace, oldest first, each with the assets whose latest change it is. */
  const sets = async (): Promise<{ origin: number; assets: string[] }[]> => {
    const { rows } = await setting.database.admin.query<{ origin: number; assets: string[] }>(
      `SELECT origin, array(SELECT external_id FROM asset WHERE workspace_id = $1 AND change_id = change_set.id ORDER BY 1)
                AS assets
         FROM change_set WHERE workspace_id = $1 ORDER BY sequence`,
      [setting.here],
    );
    return rows;
  };
  const updatedAt = async (externalId: string): Promise<Date> =>
    (await setting.asset(externalId))['updated_at'] as Date;

  it('group the assets of one batch in one change set of an import', async () => {
    await setting.importAll(...ALL);

    // Records that wait for their owner are a batch of their own.
    expect(await sets()).toEqual([
      { origin: 2, assets: ['c-1', 'ds-1', 'hr-17'] },
      { origin: 2, assets: ['C02XK', 'arn:aws:s3:::logs'] },
    ]);
  });

  it('are absent for an import without changes', async () => {
    await setting.importAll(...ALL);
    const before = await sets();

    await setting.importAll(...ALL);

    expect(await sets()).toEqual(before);
  });

  it('are absent for a check-in, which is no change', async () => {
    await setting.importAll(EMPLOYEE, BUCKET);
    const [before, setsBefore] = [await updatedAt(BUCKET.externalId), await sets()];

    const report = await setting.importAll(EMPLOYEE, { ...BUCKET, lastCheckedAt: '2026-11-09T00:00:00Z' });

    expect(report).toMatchObject({ updated: 1, unchanged: 1 });
    expect(await sets()).toEqual(setsBefore);
    expect(await updatedAt(BUCKET.externalId)).toEqual(before);
    expect(await setting.asset(BUCKET.externalId)).toMatchObject({ version: 2 });
  });

  it('move changed assets only', async () => {
    await setting.importAll(EMPLOYEE, BUCKET);
    const before = await updatedAt(BUCKET.externalId);

    await setting.importAll(EMPLOYEE, { ...BUCKET, region: 'eu-north-1' });

    expect(await sets()).toEqual([
      { origin: 2, assets: ['hr-17'] },
      { origin: 2, assets: [] },
      { origin: 2, assets: [BUCKET.externalId] },
    ]);
    expect((await updatedAt(BUCKET.externalId)).getTime()).toBeGreaterThan(before.getTime());
  });

  it('exist for a change of posture alone, which also changes the entity tag', async () => {
    await setting.importAll(EMPLOYEE, LAPTOP);

    const compliance = { ...LAPTOP.compliance, screenLockEnabled: true };
    await setting.importAll(EMPLOYEE, { ...LAPTOP, compliance });

    expect((await sets()).at(-1)).toEqual({ origin: 2, assets: ['C02XK'] });
    expect(await setting.asset('C02XK')).toMatchObject({ version: 2 });
  });

  it('exist for assets that are hidden because the input lacks them', async () => {
    await setting.importAll(EMPLOYEE, BUCKET);

    await setting.run(setting.ndjson(EMPLOYEE), { missing: 'hide' });

    expect((await sets()).at(-1)).toEqual({ origin: 2, assets: [BUCKET.externalId] });
  });

  it('are absent for a dry run', async () => {
    await setting.importAll(EMPLOYEE);
    await setting.run(setting.ndjson(EMPLOYEE, BUCKET), { dryRun: true, missing: 'hide' });

    expect(await sets()).toHaveLength(1);
  });

  it('have the origin OPERATOR when a tag key is deleted', async () => {
    await setting.importAll(EMPLOYEE, BUCKET);

    await setting.tagKeys.delete(setting.here, 'env', () => undefined);

    expect((await sets()).at(-1)).toEqual({ origin: 3, assets: [BUCKET.externalId] });
  });

  it('hold every asset that loses a deleted tag key, also beside updates', async () => {
    const [one, other, third] = ['one', 'other', 'third'].map((externalId) => ({ ...BUCKET, owner: null, externalId }));
    await setting.importAll(one, other, third);
    const { admin } = setting.database;
    await admin.query('BEGIN');
    await setting.change(
      `UPDATE asset SET description = 'beside', change_id = 0 WHERE external_id <> 'one' AND workspace_id = '${setting.here}'`,
    );
    const deleting = setting.tagKeys.delete(setting.here, 'env', () => undefined);
    await someoneWaits(setting.database);
    await admin.query('COMMIT');
    await deleting;

    expect((await sets()).at(-1)).toEqual({ origin: 3, assets: ['one', 'other', 'third'] });
    expect(await setting.asset('other')).toMatchObject({ description: 'beside', tags: [{ key: 'aws:stack' }] });
  });

  it('are taken when the audit of a new externalId is written, so that no other writer waits for that', async () => {
    await setting.importAll(EMPLOYEE, BUCKET);
    const { admin } = setting.database;
    await admin.query('BEGIN');
    await admin.query('LOCK TABLE audit_event IN SHARE MODE');
    const assets = new AssetRekey(new Database(setting.dataSource), anAuditRecorder());
    const rekeying = assets.rekey(setting.here, 'test', { from: BUCKET.externalId, to: 'logs' });
    await someoneWaits(setting.database);
    const { rows: free } = await admin.query('SELECT FROM change_head WHERE workspace_id = $1 FOR UPDATE SKIP LOCKED', [
      setting.here,
    ]);
    await admin.query('COMMIT');
    await rekeying;

    expect(free).toHaveLength(1);
    expect((await sets()).at(-1)).toEqual({ origin: 3, assets: ['logs'] });
  });

  describe('keep former states', () => {
    interface Version {
      readonly external_id: string;
      readonly from_origin: number | null;
      readonly is_ended: boolean;
      readonly document: Record<string, unknown>;
    }
    /** The former states of the workspace, oldest first. */
    const versions = async (): Promise<Version[]> => {
      const { rows } = await setting.database.admin.query<Version>(
        `SELECT external_id, to_jsonb(former) AS document, made.origin AS from_origin, ended.id IS NOT NULL AS is_ended
           FROM asset_version AS former
           LEFT JOIN change_set AS made ON made.workspace_id = $1 AND made.id = former.change_id
           LEFT JOIN change_set AS ended ON ended.workspace_id = $1 AND ended.id = to_change
          WHERE former.workspace_id = $1 ORDER BY former.version_id`,
        [setting.here],
      );
      return rows;
    };

    it('but none of a first import, an unchanged one, and a check-in', async () => {
      await setting.importAll(...ALL);
      await setting.importAll(...ALL);
      await setting.importAll(EMPLOYEE, { ...BUCKET, lastCheckedAt: '2026-11-09T00:00:00Z' });

      expect(await versions()).toEqual([]);
    });

    it('with all columns that a change ended', async () => {
      await setting.importAll(EMPLOYEE, BUCKET);

      await setting.importAll(EMPLOYEE, { ...BUCKET, region: 'eu-north-1' });

      const [kept, ...others] = await versions();
      expect(others).toEqual([]);
      expect(kept).toMatchObject({ external_id: BUCKET.externalId, from_origin: 2, is_ended: true });
      expect(kept?.document).toMatchObject({ region: 'eu-west-1', name: 'logs', classification: 2, version: 1 });
      expect(kept?.document).toMatchObject({ tags: [{ key: 'aws:stack', value: 'prod' }, { key: 'env' }] });
    });

    it.each([
      ['alone', {}],
      ['and of the asset', { osVersion: '15.2' }],
      ['and a check-in', { lastCheckedAt: '2026-11-01T10:00:00Z' }],
    ])('with the posture and the check-in from before a change of posture %s', async (_name, change) => {
      const laptop = { ...LAPTOP, lastCheckedAt: '2026-11-01T09:00:00Z' };
      await setting.importAll(EMPLOYEE, laptop);
      const { posture } = await setting.asset('C02XK');

      const compliance = { ...LAPTOP.compliance, agentVersion: '2.5.0', screenLockEnabled: true };
      await setting.importAll(EMPLOYEE, { ...laptop, ...change, compliance });

      expect((await versions()).map(({ document }) => document)).toEqual([
        expect.objectContaining({ agent_version: '2.4.0', posture, os_version: '15.1' }),
      ]);
      expect((await versions())[0]?.document['last_checked_at']).toBe('2026-11-01T09:00:00+00:00');
      const present = await setting.asset('C02XK');
      expect(present).toMatchObject({ version: 2 });
      expect(present).not.toMatchObject({ posture });
    });

    it('of hidden and shown assets until a purge', async () => {
      await setting.importAll(EMPLOYEE, BUCKET);
      await setting.importAll(EMPLOYEE, { ...BUCKET, visibility: 'HIDDEN' });
      await setting.importAll(EMPLOYEE, BUCKET);
      await setting.importAll(EMPLOYEE, { ...BUCKET, visibility: 'HIDDEN' });
      const facets = (await versions()).map(({ document }) => document['facet'] === null);
      expect(facets).toEqual([false, true, false]);

      const removed = new RemovedAssets(new Database(setting.dataSource));
      await removed.purge(setting.here, new Date(Date.now() + 60_000), () => undefined);

      expect(await versions()).toEqual([]);
    });
  });
});
