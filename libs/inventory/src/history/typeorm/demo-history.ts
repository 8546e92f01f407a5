import { Injectable } from '@nestjs/common';
import { DAY_MS, type WorkspaceId } from '#libs/kernel';
import { NEW_CHANGE_SET_ID, endOf, originCode, takeTicket } from '#libs/platform/changes';
import { Database } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import { DEMO_PAST_DAYS as DAYS } from '../../imports/domain/demo-inventory';
import { WRITE_DAY } from './history-work';

/** A larger demo would take minutes. */
const MOST_ASSETS = 20_000;

/**
 * A made-up past begins before the workspace, and retention moves the beginning behind its creation. A new past would lose
 * what anything but an import changed. The lock lets concurrent starts make one past.
 */
const LACKS_PAST = `
  SELECT FROM workspace
   WHERE id = $1 AND history_begins_at = date_trunc('milliseconds', created_at)
     AND NOT EXISTS (SELECT FROM change_set WHERE workspace_id = $1 AND origin <> ${originCode('IMPORT')})
     AND NOT EXISTS (SELECT FROM asset WHERE workspace_id = $1 OFFSET ${MOST_ASSETS})
     FOR NO KEY UPDATE`;
/** The worker may have counted empty days. */
const FORGET = ['DELETE FROM asset_version WHERE workspace_id = $1', 'DELETE FROM day_count WHERE workspace_id = $1'];
const MOVE_HEAD = 'UPDATE change_head SET changed_at = $2 WHERE workspace_id = $1';
/** Everything that the import made was there when the history began. */
const MOVE_BACK = [
  MOVE_HEAD,
  'UPDATE asset SET updated_at = $2 WHERE workspace_id = $1',
  'UPDATE change_set SET changed_at = $2 WHERE workspace_id = $1',
  'UPDATE workspace SET history_begins_at = $2 WHERE id = $1',
];
/** Each asset but employees changes once, on a day that its externalId decides. $4 the day. */
const CHANGE = `
  UPDATE asset SET change_id = $2, updated_at = $3, version = version + 1
   WHERE workspace_id = $1 AND facet IS NOT NULL AND sub_key <> 15 AND abs(hashtext(external_id)) % ${DAYS} = $4`;
/** Until then it had no owner, no description or no classification, and a disk that is encrypted now was not. $2 the set. */
const WAS = `
  UPDATE asset_version SET
    owner_id = CASE WHEN id % 3 <> 0 THEN owner_id END,
    owner_source = CASE WHEN id % 3 <> 0 THEN owner_source END,
    description = CASE WHEN id % 3 <> 1 THEN description END,
    classification = CASE WHEN id % 3 = 2 THEN 0 ELSE classification END,
    facet = facet & CASE id % 3 WHEN 0 THEN ~2 WHEN 1 THEN ~1 ELSE 3 END,
    posture = posture - 9 * (posture / 9 % 3 / 2)
   WHERE workspace_id = $1 AND to_change = $2`;
const MOVE_SET = 'UPDATE change_set SET changed_at = $3 WHERE workspace_id = $1 AND id = $2';

/** Makes up a past for the demo: the one writer of former states and of past times that is no change of today. */
@Injectable()
export class DemoHistory {
  constructor(private readonly database: Database) {}

  /** Tells whether {@link make} would make a past: the load of the demo did not end. */
  async isMissing(workspaceId: WorkspaceId): Promise<boolean> {
    return this.database.inTenant({ workspaceId }, (manager) => lacksPast(manager, workspaceId));
  }

  /** Gives a small demo that nobody changed a past of ninety days, in one transaction, unless it has one. */
  async make(workspaceId: WorkspaceId): Promise<void> {
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const timeOf = (day: number): Date => new Date(today + (day - DAYS) * DAY_MS);
    await this.database.inTenant({ workspaceId }, async (manager) => {
      if (!(await lacksPast(manager, workspaceId))) return;
      for (const statement of FORGET) await manager.query(statement, [workspaceId]);
      for (const statement of MOVE_BACK) await manager.query(statement, [workspaceId, timeOf(0)]);
      const { text, values } = takeTicket(workspaceId, { type: 'IMPORT' }, null);
      for (let day = 1; day < DAYS; day += 1) {
        // At work, and so before the day ends.
        const time = new Date(timeOf(day).getTime() + DAY_MS / 2);
        const [set] = await manager.query<{ id: string }[]>(`SELECT ${NEW_CHANGE_SET_ID} AS id`);
        await manager.query(CHANGE, [workspaceId, set?.id, time, day]);
        await manager.query(WAS, [workspaceId, set?.id]);
        await manager.query(text, [...values]);
        await manager.query(MOVE_SET, [workspaceId, set?.id, time]);
        await manager.query(MOVE_HEAD, [workspaceId, time]);
      }
      for (let day = 0; day < DAYS; day += 1) {
        const date = timeOf(day).toISOString().slice(0, 10);
        await manager.query(WRITE_DAY.text, [workspaceId, date, endOf(date)]);
      }
    });
  }
}

async function lacksPast(manager: EntityManager, workspaceId: WorkspaceId): Promise<boolean> {
  return (await manager.query<unknown[]>(LACKS_PAST, [workspaceId])).length > 0;
}
