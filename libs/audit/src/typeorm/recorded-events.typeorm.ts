import { Injectable } from '@nestjs/common';
import { type WorkspaceId, workspaceId as toWorkspaceId } from '#libs/kernel';
import { DataSource } from 'typeorm';
import type { RecordedEvent } from '../domain/audit-event';
import { type AuditFilter, RecordedEvents } from '../domain/recorded-events.port';
import { type AuditEventColumns, EVENT_COLUMNS, toRecordedEvent } from './audit-columns';
import { AuditSnapshotTypeorm } from './audit-snapshot.typeorm';

/** Skips from one workspace to the next in the index, however many rows each has. */
const workspacesOf = (table: string): string => `
  (WITH RECURSIVE found (workspace_id) AS (
     (SELECT workspace_id FROM ${table} ORDER BY workspace_id LIMIT 1)
     UNION ALL
     SELECT (SELECT workspace_id FROM ${table} WHERE workspace_id > found.workspace_id ORDER BY workspace_id LIMIT 1)
       FROM found WHERE found.workspace_id IS NOT NULL
   )
   SELECT workspace_id FROM found WHERE workspace_id IS NOT NULL)`;

const WORKSPACES = ['audit_event', 'audit_seal', 'audit_head', 'audit_tree', 'audit_floor']
  .map(workspacesOf)
  .join(' UNION ');

/** Ids contain the time, so one index finds a workspace's newest events. The newest of all are among these. */
const listStatement = (byAsset: boolean, byClient: boolean): string => `
  SELECT ${EVENT_COLUMNS}
    FROM unnest($1::uuid[]) AS asked (asked_id)
   CROSS JOIN LATERAL (
           SELECT * FROM audit_event
            WHERE workspace_id = asked_id AND id >= $2 AND id <= $3 AND (id, workspace_id) < ($3, $4)
                  ${byAsset ? 'AND asset_id = $6' : ''} ${byClient ? `AND client_id = $${byAsset ? 7 : 6}` : ''}
            ORDER BY id DESC LIMIT $5) AS event
   ORDER BY id DESC, workspace_id DESC LIMIT $5`;

const NEWEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

@Injectable()
export class RecordedEventsTypeorm extends RecordedEvents {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async workspaces(): Promise<WorkspaceId[]> {
    const rows = await this.dataSource.query<{ workspace_id: string }[]>(WORKSPACES);
    return rows.map((row) => toWorkspaceId(row.workspace_id)).sort();
  }

  async list(
    filter: AuditFilter,
    page: { readonly size: number; readonly after: RecordedEvent | null },
  ): Promise<RecordedEvent[]> {
    const { workspaceIds, assetId, clientId, since } = filter;
    const after = [page.after?.id ?? NEWEST, page.after?.workspaceId ?? NEWEST];
    const rows = await this.dataSource.query<AuditEventColumns[]>(
      listStatement(assetId !== undefined, clientId !== undefined),
      [
        ...[workspaceIds, firstIdOf(since ?? 0), ...after, page.size],
        ...(assetId === undefined ? [] : [assetId]),
        ...(clientId === undefined ? [] : [clientId]),
      ],
    );
    return rows.map(toRecordedEvent);
  }

  async open(workspaceId: WorkspaceId): Promise<AuditSnapshotTypeorm> {
    return AuditSnapshotTypeorm.open(this.dataSource.createQueryRunner(), workspaceId);
  }
}

/** The smallest UUIDv7 of this millisecond. */
function firstIdOf(time: number): string {
  const digits = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}
