import { sleep } from './abort';
import { type CursorStore } from './changes';
import { ConnectionLost, Problem } from './problem';

/** Keeps the checkpoint of an export between runs. */
export interface CheckpointStore {
  /** Null before the first run, and when the last one came to its end. */
  read(): Promise<string | null>;
  write(checkpoint: string | null): Promise<void>;
}

export interface ExportOptions {
  /** Without one every loop begins at the beginning. */
  readonly checkpointStore?: CheckpointStore;
  /** Gets the cursor from which `changes` goes on where the export began. */
  readonly feedCursorStore?: Pick<CursorStore, 'write'>;
  readonly signal?: AbortSignal;
}

/** Items between two checkpoints. */
export interface ExportedItems<Item> {
  readonly results: readonly Item[];
  /** Null behind the last item. */
  readonly checkpoint: string | null;
}

/** A line of a stream. */
export type ExportLine = Readonly<Record<string, unknown>> & { readonly type?: unknown };

/** A stream that is cut so often without a checkpoint in between is given up. */
const MAX_CUTS = 5;
/** Grows with each cut, to ten seconds in all. The API has the place of a lost stream free again within five. */
const PAUSE_MS = 1_000;

/**
 * A whole list in one response. A response that is cut is resumed from its last checkpoint. Items are yielded when their
 * checkpoint has arrived, so your loop sees each once. The checkpoint is stored once your loop has handled the items
 * before it.
 */
export class Export<Item> implements AsyncIterable<Item> {
  readonly #open: (checkpoint: string | null) => Promise<AsyncIterable<ExportLine>>;
  readonly #item: string;
  readonly #options: ExportOptions;
  readonly #pauseMs: number;

  constructor(
    open: (checkpoint: string | null) => Promise<AsyncIterable<ExportLine>>,
    item: string,
    options: ExportOptions,
    pauseMs = PAUSE_MS,
  ) {
    this.#open = open;
    this.#item = item;
    this.#options = options;
    this.#pauseMs = pauseMs;
  }

  /** Yields items one by one. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { results } of this.batches()) yield* results;
  }

  /** Yields up to 1,000 items at once. Keep them in one transaction with their checkpoint to see no item twice. */
  async *batches(): AsyncGenerator<ExportedItems<Item>, void, undefined> {
    const { checkpointStore, signal } = this.#options;
    let checkpoint = (await checkpointStore?.read()) ?? null;
    for (let cuts = 0; ;) {
      try {
        for await (const batch of this.#batchesOfOneResponse(checkpoint)) {
          yield batch;
          ({ checkpoint } = batch);
          cuts = 0;
          await checkpointStore?.write(checkpoint);
          if (checkpoint === null) return;
        }
      } catch (error) {
        cuts += 1;
        if (cuts === MAX_CUTS || !isPassing(error)) throw error;
        await sleep(this.#pauseMs * cuts, signal);
      }
    }
  }

  async *#batchesOfOneResponse(from: string | null): AsyncGenerator<ExportedItems<Item>, void, undefined> {
    let results: Item[] = [];
    for await (const line of await this.#open(from)) {
      if (line.type === 'start') await this.#keepFeedCursor(line['resumeCursor']);
      else if (line.type === this.#item) results.push(line[this.#item] as Item);
      else if (line.type === 'checkpoint') {
        yield { results, checkpoint: String(line['pageCursor']) };
        results = [];
      } else if (line.type === 'end') {
        yield { results, checkpoint: null };
        return;
      }
    }
    throw new ConnectionLost(new Error('the stream ended before its last line'));
  }

  async #keepFeedCursor(cursor: unknown): Promise<void> {
    if (typeof cursor === 'string') await this.#options.feedCursorStore?.write(cursor);
  }
}

/** The API may hold the place of an earlier stream, or of a lost first attempt, for a moment. */
function isPassing(error: unknown): boolean {
  return error instanceof ConnectionLost || (error instanceof Problem && error.code === 'export_in_progress');
}
