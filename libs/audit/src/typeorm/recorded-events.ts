import { Injectable } from '@nestjs/common';
import { type AssetId, type WorkspaceId, workspaceId as toWorkspaceId } from '#libs/kernel';
import { DataSource } from 'typeorm';
import { AuditCheck } from '../domain/audit-check';
import type { RecordedEvent } from '../domain/audit-event';
import { AuditEvidence } from '../domain/audit-evidence.port';
import { type AuditEventColumns, EVENT_COLUMNS, toRecordedEvent } from './audit-columns';
import { StoredAuditTypeorm } from './stored-audit.typeorm';

/** Restricts a list of events. An absent member restricts nothing. */
interface AuditFilter {
  readonly workspaceIds: readonly WorkspaceId[];
  readonly assetId?: AssetId;
  readonly clientId?: string;
  /** Earliest time, in milliseconds since 1970. */
  readonly since?: number;
}

export interface AuditVerdict {
  readonly ok: boolean;
  /** Numbers of events. */
  readonly sealed: number;
  readonly unsealed: number;
  readonly firstBad: {
    readonly workspaceId: WorkspaceId;
    /** Place in the workspace's audit. Null for an unsealed event. */
    readonly sequence: number | null;
    readonly reason: string;
  } | null;
}

interface AuditProgress {
  readonly verified: number;
  /** Events of the workspaces checked so far, including this one. */
  readonly known: number;
}

/** Skips from one workspace to the next in the index, however many rows each has. */
const workspacesOf = (table: string): string => `
  (WITH RECURSIVE found (workspace_id) AS (
     (SELECT workspace_id FROM ${table} ORDER BY workspace_id LIMIT 1)
     UNION ALL
     SELECT (SELECT workspace_id FROM ${table} WHERE workspace_id > found.workspace_id ORDER BY workspace_id LIMIT 1)
       FROM found WHERE found.workspace_id IS NOT NULL
   )
   SELECT workspace_id FROM found WHERE workspace_id IS NOT NULL)`;

const WORKSPACES = ['audit_event', 'audit_checkpoint'].map(workspacesOf).join(' UNION ');

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

const PAGE = 500;
const NEWEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The audit of all workspaces. For operators only, never on behalf of a request. */
@Injectable()
export class RecordedEvents {
  constructor(
    private readonly dataSource: DataSource,
    private readonly evidence: AuditEvidence,
  ) {}

  /** Returns every workspace with audit data, even when the workspace itself is gone. */
  async workspaces(): Promise<WorkspaceId[]> {
    const rows = await this.dataSource.query<{ workspace_id: string }[]>(WORKSPACES);
    return rows.map((row) => toWorkspaceId(row.workspace_id)).sort();
  }

  /** Yields events newest first, at most `limit`, in bounded memory. */
  async *list(filter: AuditFilter, limit = Infinity): AsyncGenerator<RecordedEvent, void> {
    let left = limit;
    for (let after: RecordedEvent | null = null; left > 0;) {
      const size = Math.min(left, PAGE);
      const page: RecordedEvent[] = await this.page(filter, { size, after });
      yield* page;
      after = page[page.length - 1] ?? null;
      if (page.length < size) return;
      left -= size;
    }
  }

  /** Returns up to `size` events that are older than the event `after`, newest first. Null starts at the newest. */
  async page(
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

  /**
   * Recomputes every MAC and tree. Checks the workspaces in order, each as it is when its turn comes. After the first fault
   * the events of the others are only counted. `onProgress` may throw to stop.
   */
  async verify(
    workspaceIds: readonly WorkspaceId[],
    onProgress: (progress: AuditProgress) => void = () => undefined,
  ): Promise<AuditVerdict> {
    const counts = { sealed: 0, unsealed: 0 };
    let firstBad: AuditVerdict['firstBad'] = null;
    for (const workspaceId of workspaceIds) {
      let audit = await StoredAuditTypeorm.open(this.dataSource, workspaceId);
      while (firstBad === null) {
        let verified = counts.sealed + counts.unsealed;
        const known = verified + audit.sealedCount + audit.unsealedCount;
        const check = new AuditCheck(this.evidence, audit, () => {
          verified += 1;
          if (verified % PAGE === 0) onProgress({ verified, known });
        });
        const fault = await check.firstFault();
        if (fault === null) break;
        // What an archive took away meanwhile is missing. It made a floor, from which the rest is checked.
        if (await audit.wasArchived()) audit = await StoredAuditTypeorm.open(this.dataSource, workspaceId);
        else firstBad = { workspaceId, ...fault };
      }
      counts.sealed += audit.sealedCount;
      counts.unsealed += audit.unsealedCount;
    }
    return { ok: firstBad === null, ...counts, firstBad };
  }
}

/** The smallest UUIDv7 of this millisecond. */
function firstIdOf(time: number): string {
  const digits = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}
