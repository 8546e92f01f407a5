import type { WorkspaceId } from '#libs/kernel';
import {
  type ArchivePlan,
  ArchiveRefused,
  type AuditArchiveStore,
  EventsGone,
} from '../domain/audit-archive-store.port';
import type { ArchiveFiles } from '../domain/archive-files.port';
import type { AuditEvidence } from '../domain/audit-evidence.port';
import {
  type AuditFloor,
  type AuditTree,
  EMPTY_TREE,
  type TreeFrontier,
  appendLeaves,
  rootOf,
} from '../domain/audit-tree';
import type { CheckpointSigner } from '../domain/checkpoint-signer.port';
import { type PublishedEvent, publish } from '../domain/published-event';
import { AuditTreeBroken, growTree } from '../domain/tree-growth';

export interface AuditArchive {
  readonly first: number;
  readonly last: number;
  /** One event a line, as the API shows it. */
  readonly file: string;
  /** The signed note of the tree that ends with the last event of the file. */
  readonly checkpoint: string;
}

type OnProgress = (progress: { readonly done: number; readonly known: number }) => void;

const PAGE = 1_000;
/** Digits of a sequence in the names of files, so that their order is that of the events. */
const DIGITS = 12;

/** Moves old events of a workspace from the database to files. */
export class AuditArchiveService {
  constructor(
    private readonly store: AuditArchiveStore,
    private readonly evidence: AuditEvidence,
    private readonly signer: CheckpointSigner,
    private readonly files: ArchiveFiles,
  ) {}

  /**
   * Writes the events that were recorded before this time, and proves the files against the stored tree. Removes the
   * events then. Returns null when there is none. `onProgress` may throw to stop; nothing was removed then.
   */
  async archive(
    { id, slug }: { readonly id: WorkspaceId; readonly slug: string },
    before: Date,
    directory: string,
    onProgress: OnProgress,
  ): Promise<AuditArchive | null> {
    const plan = await this.store.plan(id, before);
    if (plan === null) return null;
    const start = this.startOf(plan, id);
    const [first, last] = [(plan.floor?.size ?? 0) + 1, plan.last];
    const name = `${directory}/audit-${slug}-${padded(first)}-${padded(last)}`;
    const archive = { first, last, file: `${name}.ndjson`, checkpoint: `${name}.checkpoint` };

    const floor = await this.writeEvents(plan, id, start, archive.file, onProgress);
    const note = this.signer.sign(id, last, rootOf(floor, this.evidence.treeHashes));
    await this.files.write(archive.checkpoint, note.trimEnd().split('\n'));
    await this.proveEvents(archive.file, plan.floor ?? EMPTY_TREE, floor);
    await this.proveNote(archive.checkpoint, note);
    const known = plan.tree.size - first + 1;
    onProgress({ done: known, known });
    await this.store.remove(first, floor);
    return archive;
  }

  /** Returns the tree before the first event to archive, or null before all events. */
  private startOf({ floor, tree }: ArchivePlan, workspaceId: WorkspaceId): AuditTree | null {
    if (this.evidence.treeMac(tree) !== tree.mac) throw new AuditTreeBroken(tree.size);
    if (floor === null) return null;
    if (this.evidence.floorMac(floor) !== floor.mac) throw new AuditTreeBroken(floor.size);
    const { size, link, roots } = floor;
    return { workspaceId, size, link, roots, mac: this.evidence.treeMac({ workspaceId, size, link, roots }) };
  }

  /** Writes the events, and computes the tree to its end: only the whole tree tells that these events belong to it. */
  private async writeEvents(
    { floor: before, last, tree }: ArchivePlan,
    workspaceId: WorkspaceId,
    start: AuditTree | null,
    file: string,
    onProgress: OnProgress,
  ): Promise<AuditFloor> {
    const from = before?.size ?? 0;
    const walk = this.walk(workspaceId, start, last, tree.size, (size) => {
      onProgress({ done: size - from, known: tree.size - from });
    });
    const reached: { floor?: AuditFloor } = {};
    const linesToArchive = async function* (): AsyncGenerator<string> {
      while (reached.floor?.size !== last) {
        const step = await walk.next();
        if (step.done) return;
        reached.floor = step.value.end;
        yield* step.value.lines;
      }
    };
    await this.files.write(file, linesToArchive());
    const { floor } = reached;
    let end: AuditTree | undefined = floor;
    for await (const step of walk) ({ end } = step);
    const isSame = end?.link === tree.link && end.roots.join() === tree.roots.join();
    if (!floor || !isSame)
      throw new ArchiveRefused('The events do not match the tree. Run audit verify to find the reason.');
    return floor;
  }

  /** Grows the tree again, page by page. A page ends with the last event to archive. */
  private async *walk(
    workspaceId: WorkspaceId,
    start: AuditTree | null,
    last: number,
    end: number,
    onPage: (size: number) => void,
  ): AsyncGenerator<{ readonly lines: readonly string[]; readonly end: AuditFloor }, void> {
    for (let tree = start; (tree?.size ?? 0) < end;) {
      const size: number = tree?.size ?? 0;
      const limit = Math.min(PAGE, (size < last ? last : end) - size);
      const events = await this.store.events(workspaceId, size, limit);
      if (events[0]?.sequence !== size + 1) throw new EventsGone();
      tree = growTree(this.evidence, workspaceId, tree, events);
      if (tree.size !== size + limit) throw new AuditTreeBroken(tree.size);
      const lines = events.map((event) => {
        const published = publish(event, event.sequence ?? 0, event.recordedAt);
        return toLine({ ...published, leafHash: this.evidence.treeHashes.leaf(published) });
      });
      const unsigned = { ...tree, recordedAt: events[events.length - 1]?.recordedAt ?? '' };
      yield { lines, end: { ...unsigned, mac: this.evidence.floorMac(unsigned) } };
      onPage(tree.size);
    }
  }

  /** Reads the file again. Its leaves must lead from the tree before them to the tree after them. */
  private async proveEvents(file: string, before: TreeFrontier, after: TreeFrontier): Promise<void> {
    const { treeHashes } = this.evidence;
    let frontier = before;
    for await (const line of this.files.lines(file)) {
      const leaf = this.leafOf(line);
      if (leaf === null) throw isOther(file);
      frontier = appendLeaves(frontier, [leaf], treeHashes);
    }
    const isSame = frontier.size === after.size && frontier.roots.join() === after.roots.join();
    if (!isSame) throw isOther(file);
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

  private async proveNote(file: string, note: string): Promise<void> {
    let text = '';
    for await (const line of this.files.lines(file)) text += `${line}\n`;
    if (text !== note) throw new ArchiveRefused(`${file} holds another checkpoint. Move it away.`);
  }
}

const isOther = (file: string): ArchiveRefused => new ArchiveRefused(`${file} holds other events. Move it away.`);

/** Escapes characters that some readers take for line ends, although JSON does not. */
const toLine = (event: object): string =>
  JSON.stringify(event)
    .replace(/\u2028/g, '\\u2028')
    .replace(/\u2029/g, '\\u2029');

const padded = (sequence: number): string => String(sequence).padStart(DIGITS, '0');
