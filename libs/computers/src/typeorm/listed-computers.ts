import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { KINDS, NEVER_CHECKED_KEY, SPAN_MS } from './computer-counts';

/** A count of computers that differed from the list of computers. */
export interface WrongComputerCount {
  /** The member of a computer that is counted. */
  readonly filter: 'posture' | 'lastCheckedAt' | 'source';
  /** A posture is the number in `listed_computer`; a last check the beginning of its span of six hours, or `never`. */
  readonly value: string;
  readonly counted: number;
  readonly actual: number;
}

export interface ComputersReconciliation {
  /** Number of computers that filters found wrongly or not at all. They are corrected by now. */
  readonly wrongComputers: number;
  readonly wrongCounts: readonly WrongComputerCount[];
}

const COLUMNS = 'id, posture, owner_id, source, last_checked_at';
const state = (check: string): string => `CASE WHEN ${check} THEN 2 WHEN NOT ${check} THEN 1 ELSE 0 END`;

/** The visible computers as the list should hold them; see migration 1780000000060-listed-computers. */
const WANTED = `
  SELECT id, (CASE WHEN is_monitored THEN 81 ELSE 0 END
              + 27 * ${state('antivirus_installed')} + 9 * ${state('disk_encryption_enabled')}
              + 3 * ${state('password_manager_installed')} + ${state('screen_lock_enabled')})::smallint AS posture,
         owner_id, source, last_checked_at
    FROM visible_computer WHERE workspace_id = $1`;

const FIND_WRONG = `
  SELECT coalesce(wanted.id, listed.id) AS id
    FROM (${WANTED}) AS wanted
    FULL JOIN (SELECT ${COLUMNS} FROM listed_computer WHERE workspace_id = $1) AS listed USING (id)
   WHERE (wanted.*) IS DISTINCT FROM (listed.*)
   ORDER BY id`;

/** Nobody hides or changes one of them before it is listed. In the order of the ids, like every other writer. */
const LOCK = `
  SELECT FROM identified_computer WHERE workspace_id = $1 AND id = ANY ($2::bigint[]) ORDER BY id FOR NO KEY UPDATE`;
const UNLIST = 'DELETE FROM listed_computer WHERE workspace_id = $1 AND id = ANY ($2::bigint[])';
const LIST = `
  INSERT INTO listed_computer (workspace_id, ${COLUMNS})
  SELECT $1::uuid, ${COLUMNS} FROM (${WANTED} AND id = ANY ($2::bigint[])) AS wanted`;
const BATCH = 2_000;

/** Two concurrent repairs would correct the same difference twice. Released at the end of the transaction. */
const TAKE_TURNS = `SELECT pg_advisory_xact_lock(hashtextextended('computer counts ' || $1, 0))`;

/**
 * Adds the differences in one statement and so one snapshot. A concurrent change alters list and counts alike, so a
 * difference stays correct.
 */
const RECONCILE_COUNTS = `
  WITH compared AS (
    SELECT kind, key, source, sum(actual) AS actual, sum(counted) AS counted FROM (
      SELECT kind, key, name AS source, count(*) AS actual, 0 AS counted
        FROM listed_computer
       CROSS JOIN LATERAL (VALUES
         (${KINDS.posture}, posture::bigint, ''),
         (${KINDS.check}, coalesce(floor(extract(epoch FROM last_checked_at) / ${SPAN_MS / 1000})::bigint, ${NEVER_CHECKED_KEY}), ''),
         (${KINDS.source}, 0::bigint, source)) AS member (kind, key, name)
       WHERE workspace_id = $1 GROUP BY kind, key, name
      UNION ALL SELECT kind, key, source, 0, n FROM computer_count WHERE workspace_id = $1) AS counts
     GROUP BY kind, key, source HAVING sum(actual) <> sum(counted)
  ), repaired AS (
    INSERT INTO computer_count (workspace_id, kind, key, source, n)
    SELECT $1::uuid, kind, key, source, actual - counted FROM compared)
  SELECT kind, key, source, counted, actual FROM compared ORDER BY kind, key, source`;

interface ComparedRow {
  readonly kind: number;
  readonly key: string;
  readonly source: string;
  readonly counted: string;
  readonly actual: string;
}

/** The list of computers by which filters find them, and its counts. Database triggers normally keep both exact. */
@Injectable()
export class ListedComputers {
  constructor(private readonly database: Database) {}

  /**
   * Compares the list with the inventory and the counts with the list, and corrects what differs. Computers may change
   * meanwhile. `onBatch` is called before each transaction and may throw to stop.
   */
  async reconcile(workspaceId: WorkspaceId, onBatch: () => void = () => undefined): Promise<ComputersReconciliation> {
    onBatch();
    const wrong = await this.database.inTenant({ workspaceId }, (manager) =>
      manager.query<{ id: string }[]>(FIND_WRONG, [workspaceId]),
    );
    for (let start = 0; start < wrong.length; start += BATCH) {
      onBatch();
      const values = [workspaceId, wrong.slice(start, start + BATCH).map(({ id }) => id)];
      await this.database.inTenant({ workspaceId }, async (manager) => {
        for (const statement of [LOCK, UNLIST, LIST]) await manager.query(statement, values);
      });
    }
    onBatch();
    const counts = await this.database.inTenant({ workspaceId }, async (manager) => {
      await manager.query(TAKE_TURNS, [workspaceId]);
      return manager.query<ComparedRow[]>(RECONCILE_COUNTS, [workspaceId]);
    });
    return { wrongComputers: wrong.length, wrongCounts: counts.map(toWrongCount) };
  }
}

function toWrongCount({ kind, key, source, counted, actual }: ComparedRow): WrongComputerCount {
  const counts = { counted: Number(counted), actual: Number(actual) };
  if (kind === KINDS.posture) return { filter: 'posture', value: key, ...counts };
  if (kind === KINDS.source) return { filter: 'source', value: source, ...counts };
  const start = new Date(Number(key) * SPAN_MS);
  return { filter: 'lastCheckedAt', value: Number.isNaN(start.getTime()) ? 'never' : start.toISOString(), ...counts };
}
