import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

const MEGABYTE = 1_048_576;
const NODE = Number.parseInt(process.versions.node, 10);
const MEMORY = Math.min(totalmem(), process.constrainedMemory() || Infinity);
/** Megabytes for young objects. They are fewer where the machine or the container has less than 4 GB. */
const YOUNG_BY_DEFAULT = (NODE < 24 ? 48 : NODE < 26 ? 192 : 96) * Math.min(1, MEMORY / (4_096 * MEGABYTE));
const OPTIONS = [process.env['NODE_OPTIONS'], ...process.execArgv].join(' ');
/** A third of the memory for young objects. Node takes the last one. */
const [, third] = /.*--max-semi-space-size=(\d+)/.exec(OPTIONS) ?? [];
/** Node ends the whole process, with a trace of its own, when only this is left. */
const NEVER_USED = (third === undefined ? YOUNG_BY_DEFAULT : 3 * Number(third)) * MEGABYTE;
/** Shares of the memory of the process. Work ends when so much more is left. */
const RESERVE = 0.1;
/** Least share that is the work's own. Garbage of earlier work may not be collected yet, and ends nothing. */
const LEAST_OWN = 0.1;
const REMEDY = 'NODE_OPTIONS=--max-old-space-size=8000 gives it 8000.';

/** Notices that one piece of work fills the memory of the process, while there is some left. */
export class MemoryWatch {
  private readonly before = getHeapStatistics().used_heap_size;

  /** Returns why work must end, to follow its name in a sentence. Null while there is memory. */
  shortage(): string | null {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    if (limit - used > NEVER_USED + limit * RESERVE || used - this.before < limit * LEAST_OWN) return null;
    return `needs more memory than this process has, ${Math.round((limit - NEVER_USED) / MEGABYTE)} MB. ${REMEDY}`;
  }
}
