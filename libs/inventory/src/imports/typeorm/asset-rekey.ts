import { Injectable } from '@nestjs/common';
import { AuditRecorder } from '#libs/audit/operators';
import type { WorkspaceId } from '#libs/kernel';
import { takeTicket } from '#libs/platform/changes';
import { Database } from '#libs/platform/database';
import { ImportAlreadyRunning } from '../domain/import-store.port';
import { importLockOf } from './import-run.row';
import { REKEY_ONE } from './rekey-statements';
import { rekeyedAct } from './rekeyed-computers';

const LOCK = `SELECT pg_try_advisory_xact_lock(${importLockOf('$1', '$2')}) AS locked`;
const IS_TAKEN = `SELECT FROM asset WHERE workspace_id = $1 AND source = $2 AND external_id = $3`;

/** Gives an asset another externalId by hand: it stays the same asset. */
@Injectable()
export class AssetRekey {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
  ) {}

  /**
   * Returns why nothing was done, or null. Hidden assets count, too.
   * @throws ImportAlreadyRunning while the source is imported
   */
  async rekey(
    workspaceId: WorkspaceId,
    source: string,
    { from, to }: { readonly from: string; readonly to: string },
  ): Promise<'missing' | 'taken' | null> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const [lock] = await manager.query<{ locked: boolean }[]>(LOCK, [workspaceId, source]);
      if (lock?.locked !== true) throw new ImportAlreadyRunning(`of the source "${source}"`);
      const taken = await manager.query<unknown[]>(IS_TAKEN, [workspaceId, source, to]);
      if (taken.length > 0) return 'taken';
      const values = [workspaceId, source, from, to];
      const [asset] = await manager.query<{ public_id: string; is_employee: boolean }[]>(REKEY_ONE, values);
      if (asset === undefined) return 'missing';
      // The externalId of an employee may be an address.
      const changes = asset.is_employee ? { old: null, new: null } : { old: from, new: to };
      await this.audit.recordAct(manager, workspaceId, rekeyedAct(asset.public_id, changes));
      const ticket = takeTicket(workspaceId, { type: 'OPERATOR' }, this.audit.who);
      await manager.query(ticket.text, [...ticket.values]);
      return null;
    });
  }
}
