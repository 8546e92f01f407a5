import { Injectable } from '@nestjs/common';
import { AuditRecorder } from '#libs/audit/operators';
import type { AssetId, WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { EMPLOYEE } from '../../assets/typeorm/asset.row';

/** Whoever ends the present state waits for the mark. */
const MARK = `
  WITH marked AS (
    UPDATE asset SET erased_change_id = change_id
     WHERE workspace_id = $1 AND public_id = $2 AND sub_key = ${EMPLOYEE}
    RETURNING id, facet IS NOT NULL AS is_visible)
  SELECT * FROM marked`;
const ERASE_FORMER = `
  UPDATE asset_version SET name = 'erased', email = NULL
   WHERE workspace_id = $1 AND asset_id = $2`;
const ERASE_PRESENT = `UPDATE asset SET name = 'erased', email = NULL WHERE workspace_id = $1 AND id = $2`;

/** Takes an employee's name and e-mail address out of the past. */
@Injectable()
export class HistoryErasure {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
  ) {}

  /**
   * Replaces both in every former state, and in the present one when it ends. The present row stays, but that of an
   * employee who is hidden or deleted is erased too. Returns false for an id of no employee.
   */
  async erase(workspaceId: WorkspaceId, employee: AssetId): Promise<boolean> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const run = async <Row>(text: string, values: readonly unknown[]): Promise<Row[]> =>
        manager.query<Row[]>(text, [...values]);
      const [found] = await run<{ id: string; is_visible: boolean }>(MARK, [workspaceId, employee]);
      if (!found) return false;
      await run(ERASE_FORMER, [workspaceId, found.id]);
      // Nobody sees the row, so it is no change.
      if (!found.is_visible) await run(ERASE_PRESENT, [workspaceId, found.id]);
      const target = { type: 'ASSET', id: employee } as const;
      await this.audit.record(workspaceId, { action: 'history.erased', actor: { type: 'OPERATOR' }, target }, run);
      return true;
    });
  }
}
