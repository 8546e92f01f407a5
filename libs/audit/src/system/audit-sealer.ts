import type { Clock, WorkspaceId } from '#libs/kernel';
import { RepeatedWork } from '#libs/platform/background';
import { Tally } from '#libs/platform/observability';
import { AuditCheckpointBroken, AuditEventRefused, sealBatch } from '../domain/audit-seal';
import type { AuditBacklog, AuditCheckpointStore, SealedBatch } from '../domain/audit-checkpoint-store.port';
import type { AuditEvidence } from '../domain/audit-evidence.port';

const INTERVAL_MS = 5_000;
/** The most events in one transaction. */
const BATCH = 200;
const ROUND = 'round';
const LOOK = 'look';
const FAILED = 'audit events could not be sealed';

/**
 * Seals new audit events while the instance serves: numbers them, and makes the checkpoint of the tree that they extend.
 * Instances take turns by workspace. Failures only reach the log and the metrics; the next round tries again.
 */
export class AuditSealer extends RepeatedWork {
  /** The backlog at the end of the last successful look. Null before the first. */
  backlog: (AuditBacklog & { readonly lookedAt: Date }) | null = null;
  readonly failures = new Tally(['altered', 'unavailable']);
  /** The last failure of each workspace and of the round itself, so that each is logged once. */
  private readonly failing = new Map<string, string>();

  constructor(
    private readonly store: AuditCheckpointStore,
    private readonly evidence: AuditEvidence,
    private readonly clock: Clock,
    intervalMs = INTERVAL_MS,
  ) {
    super(intervalMs, FAILED);
  }

  /**
   * Seals all waiting events: in each pass one batch of every workspace that waits by then, and a look at the backlog.
   * A workspace that fails waits for the next call.
   * Never throws. Returns the number of sealed events.
   */
  async sealAll(): Promise<number> {
    let total = 0;
    const failed = new Set<WorkspaceId>();
    for (let more = true; more;) {
      more = false;
      for (const workspaceId of await this.attempt(ROUND, [], () => this.store.workspacesToSeal())) {
        if (this.stopping) return total;
        if (failed.has(workspaceId)) continue;
        const sealed = await this.attempt(workspaceId, null, () => this.sealBatchOf(workspaceId), { workspaceId });
        total += sealed?.sealed ?? 0;
        more ||= sealed?.mayGoOn ?? false;
        if (this.failing.has(workspaceId)) failed.add(workspaceId);
      }
      await this.look();
    }
    return total;
  }

  protected async round(): Promise<boolean> {
    await this.sealAll();
    return this.failing.size === 0;
  }

  private async look(): Promise<void> {
    // A failure of Postgres was already logged.
    if (this.stopping || this.failing.has(ROUND)) return;
    const backlog = await this.attempt(LOOK, null, () => this.store.backlog());
    if (!backlog) return;
    this.backlog = { ...backlog, lookedAt: new Date(this.clock.now()) };
    this.succeededAt = Date.now();
  }

  private sealBatchOf(workspaceId: WorkspaceId): Promise<SealedBatch | null> {
    return this.store.sealNext(workspaceId, BATCH, (before, events, now) =>
      sealBatch(this.evidence, workspaceId, before, events, now),
    );
  }

  private async attempt<Result>(
    what: string,
    otherwise: Result,
    work: () => Promise<Result>,
    place: { readonly workspaceId?: WorkspaceId } = {},
  ): Promise<Result> {
    try {
      const result = await work();
      // While another instance seals the workspace, its outcome is unknown here.
      if (result !== null && this.failing.delete(what)) {
        this.logger.log({ message: 'audit events are sealed again', ...place });
      }
      return result;
    } catch (error) {
      const altered = error instanceof AuditCheckpointBroken || error instanceof AuditEventRefused;
      this.failures.add(altered ? 'altered' : 'unavailable');
      const reason = String(error);
      if (!this.stopping && this.failing.get(what) !== reason) {
        this.failing.set(what, reason);
        this.logger[altered ? 'error' : 'warn']({ message: FAILED, ...place, error });
      }
      return otherwise;
    }
  }
}
