import { type WorkspaceId, jsonLine } from '#libs/kernel';
import {
  type ArchivePlan,
  ArchiveRefused,
  type AuditArchiveStore,
  EventsGone,
} from '../domain/audit-archive-store.port';
import type { ArchiveFiles } from '../domain/archive-files.port';
import type { AuditCheckpointStore } from '../domain/audit-checkpoint-store.port';
import { AuditCheckpointBroken, sealBatch } from '../domain/audit-seal';
import type { AuditEvidence } from '../domain/audit-evidence.port';
import { EMPTY_TREE, type TreeFrontier, appendLeaves, rootOf } from '../domain/audit-tree';
import type { CheckpointSigner } from '../domain/checkpoint-signer.port';
import { type PublishedEvent, publish } from '../domain/published-event';

export interface AuditArchive {
  readonly first: number;
  readonly last: number;
  /** One event a line, as the API shows it. */
  readonly file: string;
  /** The signed note of the tree that ends with the last event of the file. */
  readonly checkpoint: string;
}

type OnProgress = (progress: { readonly done: number; readonly known: number }) => void;

interface OfWorkspace {
  readonly id: WorkspaceId;
  readonly slug: string;
}

const PAGE = 1_000;
/** Events that are sealed at once. */
const BATCH = 200;
/** Pause while an instance seals the workspace. */
const PAUSE_MS = 100;
/** Digits of a sequence in the names of files, so that their order is that of the events. */
const DIGITS = 12;

/** Moves events of a workspace from the database to files: old ones, or all of them before the workspace goes. */
export class AuditArchiveService {
  constructor(
    private readonly store: AuditArchiveStore,
    private readonly evidence: AuditEvidence,
    private readonly signer: CheckpointSigner,
    private readonly files: ArchiveFiles,
    private readonly checkpoints: AuditCheckpointStore,
  ) {}

  /**
   * Writes the events that were recorded before this time, and proves the files by the checkpoint that ends with them.
   * Without a time it takes all sealed events. Removes the events then. Returns null when there is none. `onProgress` may
   * throw to stop; nothing was removed then.
   */
  async archive(
    { id, slug }: OfWorkspace,
    before: Date | null,
    directory: string,
    onProgress: OnProgress,
  ): Promise<AuditArchive | null> {
    const plan = await this.store.plan(id, before);
    if (plan === null) return null;
    for (const checkpoint of [plan.floor, plan.end]) {
      if (checkpoint && this.evidence.checkpointMac(checkpoint) !== checkpoint.mac) {
        throw new AuditCheckpointBroken(checkpoint.size);
      }
    }
    const [first, last] = [(plan.floor?.size ?? 0) + 1, plan.end.size];
    const name = `${directory}/audit-${slug}-${padded(first)}-${padded(last)}`;
    const archive = { first, last, file: `${name}.ndjson`, checkpoint: `${name}.checkpoint` };

    await this.files.write(archive.file, this.lines(plan, id, onProgress));
    await this.proveEvents(archive.file, plan);
    const note = this.signer.sign(id, last, rootOf(plan.end, this.evidence.treeHashes));
    await this.files.write(archive.checkpoint, note.trimEnd().split('\n'));
    const known = last - first + 1;
    onProgress({ done: known, known });
    const floor = { ...plan.end, isFloor: true };
    await this.store.remove(first, { ...floor, mac: this.evidence.checkpointMac(floor) });
    return archive;
  }

  /**
   * Seals all waiting events, and archives every event. Returns null when there is none.
   * @throws `AuditEventRefused` and `AuditCheckpointBroken` when the audit was altered; nothing was removed then
   */
  async archiveAll(workspace: OfWorkspace, directory: string, onProgress: OnProgress): Promise<AuditArchive | null> {
    for (let sealed: number | null = null; sealed !== 0; onProgress({ done: 0, known: 1 })) {
      if (sealed === null) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      const batch = await this.checkpoints.sealNext(workspace.id, BATCH, (before, events, now) =>
        sealBatch(this.evidence, workspace.id, before, events, now),
      );
      sealed = batch && batch.sealed;
    }
    return this.archive(workspace, null, directory, onProgress);
  }

  /** Reads the events page by page. */
  private async *lines(
    { floor, end }: ArchivePlan,
    workspaceId: WorkspaceId,
    onProgress: OnProgress,
  ): AsyncGenerator<string, void> {
    const start = floor?.size ?? 0;
    for (let last = start; last < end.size;) {
      const events = await this.store.events(workspaceId, last, Math.min(PAGE, end.size - last));
      if (events[0]?.sequence !== last + 1) throw new EventsGone();
      for (const event of events) {
        if (!this.evidence.isAuthentic(event)) throw new ArchiveRefused(`The event ${event.id} was altered.`);
        const published = publish(event, event.sequence, event.recordedAt);
        yield jsonLine({ ...published, leafHash: this.evidence.treeHashes.leaf(published) });
        last = event.sequence;
      }
      onProgress({ done: last - start, known: end.size - start });
    }
  }

  /** Reads the file again. Its leaves must lead from the tree before them to the tree after them. */
  private async proveEvents(file: string, { floor, end }: ArchivePlan): Promise<void> {
    const { treeHashes } = this.evidence;
    let frontier: TreeFrontier = floor ?? EMPTY_TREE;
    for await (const line of this.files.lines(file)) {
      const leaf = this.leafOf(line);
      if (leaf === null) throw isOther(file);
      frontier = appendLeaves(frontier, [leaf], treeHashes);
    }
    if (frontier.size !== end.size || frontier.roots.join() !== end.roots.join()) throw isOther(file);
  }

  private leafOf(line: string): string | null {
    try {
      const { leafHash, ...event } = JSON.parse(line) as PublishedEvent & { readonly leafHash: string };
      const leaf = this.evidence.treeHashes.leaf(event);
      return leaf === leafHash ? leaf : null;
    } catch {
      return null;
    }
  }
}

const isOther = (file: string): ArchiveRefused =>
  new ArchiveRefused(`${file} does not match the tree. Run audit verify; where it finds nothing, move the file away.`);

const padded = (sequence: number): string => String(sequence).padStart(DIGITS, '0');
