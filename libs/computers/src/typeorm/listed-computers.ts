import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database, type KeptCounts, type WrongCount, reconcileCounts, repairRows } from '#libs/platform/database';
import { KINDS, NEVER_CHECKED_KEY, SPAN_MS } from './computer-counts';

/** A count of computers that differed from the list of computers. */
export interface WrongComputerCount extends WrongCount {
  /** The member of a computer that is counted. */
  readonly filter: 'posture' | 'lastCheckedAt' | 'source';
  /** A posture is the number in `listed_computer`; a last check the beginning of its span of two hours, or `never`. */
  readonly value: string;
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

const LIST = [
  `SELECT coalesce(wanted.id, listed.id) AS id
     FROM (${WANTED}) AS wanted
     FULL JOIN (SELECT ${COLUMNS} FROM listed_computer WHERE workspace_id = $1) AS listed USING (id)
    WHERE (wanted.*) IS DISTINCT FROM (listed.*)
    ORDER BY id`,
  // Nobody hides or changes one of them before it is listed. In the order of the ids, like every other writer.
  'SELECT FROM identified_computer WHERE workspace_id = $1 AND id = ANY ($2::bigint[]) ORDER BY id FOR NO KEY UPDATE',
  'DELETE FROM listed_computer WHERE workspace_id = $1 AND id = ANY ($2::bigint[])',
  `INSERT INTO listed_computer (workspace_id, ${COLUMNS})
   SELECT $1::uuid, ${COLUMNS} FROM (${WANTED} AND id = ANY ($2::bigint[])) AS wanted`,
] as const;

const COUNTS: KeptCounts = {
  table: 'computer_count',
  keys: 'kind, key, source',
  actual: `
    SELECT kind, key, name AS source, count(*) AS n
      FROM listed_computer
     CROSS JOIN LATERAL (VALUES
       (${KINDS.posture}, posture::bigint, ''),
       (${KINDS.check}, coalesce(floor(extract(epoch FROM last_checked_at) / ${SPAN_MS / 1000})::bigint, ${NEVER_CHECKED_KEY}), ''),
       (${KINDS.source}, 0::bigint, source)) AS member (kind, key, name)
     WHERE workspace_id = $1 GROUP BY kind, key, name`,
  shown: 'kind, key, source',
};

interface CountKey {
  readonly kind: number;
  readonly key: string;
  readonly source: string;
}

/** The list of computers by which filters find them, and its counts. Database triggers normally keep both exact. */
@Injectable()
export class ListedComputers {
  constructor(private readonly database: Database) {}

  /**
   * Compares the list with the inventory and the counts with the list, and corrects what differs. Computers may change
   * meanwhile. `onBatch` is called before each transaction and may throw to stop.
   */
  async reconcile(workspaceId: WorkspaceId, onBatch?: () => void): Promise<ComputersReconciliation> {
    const wrongComputers = await repairRows(this.database, workspaceId, LIST, onBatch);
    onBatch?.();
    const counts = await reconcileCounts<CountKey>(this.database, workspaceId, COUNTS);
    return { wrongComputers, wrongCounts: counts.map(toWrongCount) };
  }
}

function toWrongCount({ kind, key, source, ...counts }: CountKey & WrongCount): WrongComputerCount {
  if (kind === KINDS.posture) return { filter: 'posture', value: key, ...counts };
  if (kind === KINDS.source) return { filter: 'source', value: source, ...counts };
  const start = new Date(Number(key) * SPAN_MS);
  return { filter: 'lastCheckedAt', value: Number.isNaN(start.getTime()) ? 'never' : start.toISOString(), ...counts };
}
