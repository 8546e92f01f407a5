import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { AuditCheck } from '../domain/audit-check';
import type { RecordedEvent } from '../domain/audit-event';
import { AuditEvidence } from '../domain/audit-evidence.port';
import { type AuditFilter, RecordedEvents } from '../domain/recorded-events.port';

export interface AuditVerdict {
  readonly ok: boolean;
  /** Numbers of events. */
  readonly sealed: number;
  readonly unsealed: number;
  readonly firstBad: {
    readonly workspaceId: WorkspaceId;
    /** Position in the workspace's chain. Null for an unsealed event. */
    readonly sequence: number | null;
    readonly reason: string;
  } | null;
}

export interface AuditProgress {
  readonly verified: number;
  /** Events of the workspaces checked so far, including this one. */
  readonly known: number;
}

const PAGE = 500;

/** Lists and verifies the audit for operators. */
@Injectable()
export class AuditService {
  constructor(
    private readonly recorded: RecordedEvents,
    private readonly evidence: AuditEvidence,
  ) {}

  /** Returns every workspace with audit data. */
  async workspaces(): Promise<WorkspaceId[]> {
    return this.recorded.workspaces();
  }

  /** Yields events newest first, at most `limit`, in bounded memory. */
  async *list(filter: AuditFilter, limit = Infinity): AsyncGenerator<RecordedEvent, void> {
    let left = limit;
    for (let after: RecordedEvent | null = null; left > 0;) {
      const size = Math.min(left, PAGE);
      const page: RecordedEvent[] = await this.recorded.list(filter, { size, after });
      yield* page;
      after = page[page.length - 1] ?? null;
      if (page.length < size) return;
      left -= size;
    }
  }

  /**
   * Recomputes every MAC and chain. Checks the workspaces in order, each at one snapshot. After the first fault of a
   * workspace its events are only counted. `onProgress` may throw to stop.
   */
  async verify(
    workspaceIds: readonly WorkspaceId[],
    onProgress: (progress: AuditProgress) => void = () => undefined,
  ): Promise<AuditVerdict> {
    const counts = { sealed: 0, unsealed: 0 };
    let verified = 0;
    let firstBad: AuditVerdict['firstBad'] = null;
    for (const workspaceId of workspaceIds) {
      const snapshot = await this.recorded.open(workspaceId);
      try {
        counts.sealed += snapshot.sealedCount;
        counts.unsealed += snapshot.unsealedCount;
        if (firstBad !== null) continue;
        const known = counts.sealed + counts.unsealed;
        const check = new AuditCheck(this.evidence, workspaceId, snapshot, () => {
          verified += 1;
          if (verified % PAGE === 0) onProgress({ verified, known });
        });
        const fault = await check.firstFault();
        if (fault !== null) firstBad = { workspaceId, ...fault };
      } finally {
        await snapshot.close();
      }
    }
    return { ok: firstBad === null, ...counts, firstBad };
  }
}
