import { Injectable } from '@nestjs/common';
import { AuditRecorder } from '#libs/audit/operators';
import type { AssetId, WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { EMPLOYEE } from '../../assets/typeorm/asset.row';

/** Whoever ends the present state waits for the mark. Nobody sees a hidden row, so erasing it is no change. */
const MARK = `
  UPDATE asset SET erased_change_id = change_id,
                   name = CASE WHEN facet IS NULL THEN 'erased' ELSE name END,
                   email = CASE WHEN facet IS NOT NULL THEN email END
   WHERE workspace_id = $1 AND public_id = $2 AND sub_key = ${EMPLOYEE}
  RETURNING id`;
const ERASE_FORMER = `
  UPDATE asset_version SET name = 'erased', email = NULL
   WHERE workspace_id = $1 AND id = $2`;

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
      const [[found]] = await manager.query<[{ id: string }[], number]>(MARK, [workspaceId, employee]);
      if (!found) return false;
      // A later statement, which sees the state that a writer ended while MARK waited for it.
      await manager.query(ERASE_FORMER, [workspaceId, found.id]);
      const target = { type: 'ASSET', id: employee } as const;
      await this.audit.recordAct(manager, workspaceId, { action: 'history.erased', target });
      return true;
    });
  }
}
