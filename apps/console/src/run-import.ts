import { closeSync, openSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import type { ImportEnd, ImportNews, ImportOrder } from '#libs/console';
import { ImportAlreadyRunning, type ImportsService, InputUnreadable, MapLibrary } from '#libs/inventory/operators';
import { jsonLine } from '#libs/kernel';

const MOST_BYTES_UNPACKED = 1_000_000_000;
const MOST_RECORDS = 1_000_000;
const MOST_BYTES_FAILED = 100_000_000;

/** Runs the import of an upload. Its first failed records are kept, to be mended. @throws what is no fault of the file */
export async function runImport(
  imports: Pick<ImportsService, 'run'>,
  order: ImportOrder,
  tell: (news: ImportNews) => void,
): Promise<ImportEnd> {
  const { author, workspaceId, path, options, dryRun } = order;
  const failed = openSync(order.failedRecords, 'w', 0o600);
  let [failedKept, length] = [0, 0];
  try {
    const report = await imports.run(workspaceId, {
      ...options,
      map: options.map === null ? null : new MapLibrary().load(options.map),
      ...{ person: author, dryRun, files: [path], mostBytes: MOST_BYTES_UNPACKED },
      onProgress: (progress) => {
        tell({ progress });
        if (progress.read + progress.skipped > MOST_RECORDS)
          throw new InputUnreadable(`The file has more than ${MOST_RECORDS.toLocaleString('en')} records.`);
      },
      onBadLine: ({ line, reason, header, text, base64 }) => {
        if (length > MOST_BYTES_FAILED) return;
        length += writeSync(failed, `${jsonLine({ line, reason, header, text, base64 })}\n`);
        failedKept += 1;
      },
    });
    return { report };
  } catch (error) {
    if (error instanceof ImportAlreadyRunning)
      return { refusal: `${error.message} Try again when it has ended.`, mayRepeat: true };
    if (!(error instanceof InputUnreadable)) throw error;
    return { refusal: error.message.replaceAll(path, () => basename(path)), mayRepeat: false };
  } finally {
    closeSync(failed);
    tell({ failedKept });
  }
}
