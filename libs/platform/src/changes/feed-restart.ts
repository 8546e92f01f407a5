import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database } from '../database/database';
import { ChangeHeadRow } from './change-set.row';
import { NEW_CHANGE_SET_ID, takeTicket } from './ticket';

/** Has every reader of a workspace's feeds begin again. */
@Injectable()
export class FeedRestart {
  constructor(private readonly database: Database) {}

  /** Every cursor from before is refused with `410 cursor_expired` (`diverged`). Returns the sequence of the new head. */
  async restart(workspaceId: WorkspaceId): Promise<string> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      await manager.query(`SELECT ${NEW_CHANGE_SET_ID}`);
      const { text, values } = takeTicket(workspaceId, { type: 'OPERATOR' }, null);
      await manager.query(text, [...values]);
      const { sequence } = await manager.findOneByOrFail(ChangeHeadRow, { workspace_id: workspaceId });
      await manager.update(ChangeHeadRow, { workspace_id: workspaceId }, { restarted_sequence: sequence });
      return sequence;
    });
  }
}
