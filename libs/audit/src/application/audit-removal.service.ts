import type { Clock, WorkspaceId } from '#libs/kernel';
import type { AuditArchiveStore } from '../domain/audit-archive-store.port';
import type { AuditCheckpointStore } from '../domain/audit-checkpoint-store.port';
import type { AuditEvidence } from '../domain/audit-evidence.port';
import { sealBatch } from '../domain/audit-seal';
import type { AuditArchive, AuditArchiveService, OnProgress } from './audit-archive.service';

const BATCH = 200;
/** Pause while an instance seals the workspace. */
const PAUSE_MS = 100;

/** Takes the whole audit of a workspace out of the database, before the workspace goes. */
export class AuditRemovalService {
  constructor(
    private readonly archives: AuditArchiveService,
    private readonly store: AuditArchiveStore,
    private readonly checkpoints: AuditCheckpointStore,
    private readonly evidence: AuditEvidence,
    private readonly clock: Clock,
  ) {}

  /**
   * Seals all waiting events, and archives every event. Returns null when there is none.
   * @throws `AuditEventRefused` and `AuditCheckpointBroken` when the audit was altered; nothing was removed then
   */
  async archive(
    workspace: { readonly id: WorkspaceId; readonly slug: string },
    directory: string,
    onProgress: OnProgress,
  ): Promise<AuditArchive | null> {
    for (let sealed: number | null = null; sealed !== 0; onProgress({ done: 0, known: 1 })) {
      if (sealed === null) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      sealed = await this.checkpoints.sealNext(workspace.id, BATCH, (before, events) =>
        sealBatch(this.evidence, workspace.id, before, events, this.clock.now()),
      );
    }
    return this.archives.archive(workspace, null, directory, onProgress);
  }

  /**
   * Removes what is left after the last archive: checkpoints.
   * @throws `EventsLeft` when there are events
   */
  async forget(workspaceId: WorkspaceId): Promise<void> {
    await this.store.forget(workspaceId);
  }
}
