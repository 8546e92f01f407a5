import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportNews, ImportOrder } from '#libs/console';
import {
  ImportAlreadyRunning,
  type ImportOptions,
  type ImportReport,
  InputUnreadable,
} from '#libs/inventory/operators';
import { workspaceId } from '#libs/kernel';
import { NO_COUNTS } from '../../../libs/inventory/src/imports/domain/recorded-run';
import { runImport } from './run-import';

const REPORT = { failed: 1 } as ImportReport;
const PROGRESS = { ...NO_COUNTS, bytesRead: 1, bytesTotal: 1 };

describe('The import of an upload', () => {
  const directory = mkdtempSync(join(tmpdir(), 'upload-'));
  const order: ImportOrder = {
    author: { personId: 'p', requestId: 'r' },
    workspaceId: workspaceId('00000001-0000-4000-8000-000000000000'),
    path: join(directory, "a$&b$'.csv"),
    failedRecords: join(directory, 'failed.ndjson'),
    options: { source: 'hr', missing: 'keep', createTagKeys: null, map: null },
    dryRun: true,
  };
  const told: ImportNews[] = [];
  const run = (work: (options: ImportOptions) => void, given = order) => {
    told.length = 0;
    const service = {
      run: (_: unknown, options: ImportOptions) =>
        Promise.resolve(options)
          .then(work)
          .then(() => REPORT),
    };
    return runImport(service, given, (news) => void told.push(news));
  };

  it('has bounds of bytes and records', async () => {
    const end = await run(({ mostBytes, onProgress }) => {
      expect(mostBytes).toBe(1_000_000_000);
      onProgress?.({ ...PROGRESS, read: 600_000, skipped: 400_000 });
      onProgress?.({ ...PROGRESS, read: 600_000, skipped: 400_001 });
    });

    expect(end).toEqual({ refusal: 'The file has more than 1,000,000 records.', mayRepeat: false });
    expect(told).toHaveLength(3);
  });

  it('keeps failed records', async () => {
    const end = await run(({ onBadLine }) => onBadLine?.({ place: 1, line: 2, reason: 'x', text: 'y' }));

    expect([end, ...told]).toEqual([{ report: REPORT }, { failedKept: 1 }]);
    expect(readFileSync(order.failedRecords, 'utf8')).toBe('{"line":2,"reason":"x","text":"y"}\n');
  });

  it('fails when failed records cannot be kept', async () => {
    const nowhere = { ...order, failedRecords: join(directory, 'none', 'failed.ndjson') };

    await expect(
      run(({ onBadLine }) => onBadLine?.({ place: 1, line: 1, reason: 'x', text: 'x' }), nowhere),
    ).rejects.toThrow('ENOENT');
  });

  it("tells the file's name, and never its path", async () => {
    const end = await run(({ files: [path] }) => {
      throw new InputUnreadable(`${path} is not a CSV file.`);
    });

    expect(end).toEqual({ refusal: "a$&b$'.csv is not a CSV file.", mayRepeat: false });
  });

  it('may be repeated after another one', async () => {
    const end = await run(() => {
      throw new ImportAlreadyRunning('by the console');
    });

    expect(end).toEqual({ refusal: expect.stringContaining('already running') as string, mayRepeat: true });
  });
});
