import {
  ForbiddenException,
  HttpException,
  Injectable,
  Logger,
  type OnModuleDestroy,
  ServiceUnavailableException,
} from '@nestjs/common';
import type { ImportProgress, ImportReport } from '#libs/inventory/operators';
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { Subject, lastValueFrom, mergeMap } from 'rxjs';
import type { SignedIn } from '../domain/signed-in';
import { People } from '../typeorm/people';
import { ImportProcesses, type UploadOptions } from './import-processes';
import { AnotherFile, type Sender, type SentFile, UploadFiles } from '../system/upload-files.system';
import { AnotherResponse, sendPage } from './page';
import type { Typed } from './read-fields';

/** At one time. Each may keep a core busy. */
const MOST_IMPORTS = 3;
const KEPT_MS = 3_600_000;
const LOOK_EVERY_MS = 60_000;
const OURS = 'Something went wrong on our side. Nothing is lost: an import can be repeated.';
const GONE = { title: 'Upload the file again', status: 404 };

/** The place of a file that the reader of forms stored. */
export type StoredFile = Pick<Upload, 'path'>;
type Done = (error: Error | null, stored?: StoredFile) => void;

/** A file on its way into the inventory. It waits after the dry run until somebody imports it. */
export interface Upload {
  readonly id: string;
  readonly workspaceId: SignedIn['workspaceId'];
  readonly name: string;
  readonly path: string;
  readonly options: UploadOptions;
  readonly typed: Typed;
  readonly uploadedAt: Date;
  /** When the dry run ended, or the import, by `performance.now()`: the machine's clock may be set back. */
  endedAt: number;
  state: 'trying' | 'tried' | 'importing' | 'imported' | 'refused';
  progress: ImportProgress | null;
  /** Report of the dry run, then of the import. */
  report: ImportReport | null;
  /** Why it was refused, or not imported yet. */
  reason: string | null;
  /** Failed records that can be downloaded. */
  failedKept: number;
}

export const isUnderWay = ({ state }: Upload): boolean => state === 'trying' || state === 'importing';

/**
 * Uploads of this instance, one for each workspace: a dry run, and then the import by the person who asked for it. The
 * reader of forms calls the methods with an underscore.
 */
@Injectable()
export class Uploads implements OnModuleDestroy {
  private readonly logger = new Logger('Uploads');
  private readonly uploads = new Map<string, Upload>();
  private readonly runs = new Subject<() => Promise<void>>();
  /** Runs them in their order. */
  private readonly done = lastValueFrom(this.runs.pipe(mergeMap((run) => run(), MOST_IMPORTS)), { defaultValue: null });
  private stopping = false;
  private readonly timer = setInterval(() => this.expire(), LOOK_EVERY_MS).unref();

  constructor(
    private readonly processes: ImportProcesses,
    private readonly people: People,
    private readonly files: UploadFiles,
  ) {}

  _handleFile(sender: Sender, file: SentFile, done: Done): void {
    this.files.store(sender, file, () => this.makeRoom(sender.signedIn)).then((path) => done(null, { path }), done);
  }

  _removeFile(_: unknown, { path }: StoredFile, done: Done): void {
    this.files.remove(path);
    done(null);
  }

  /** @throws {@link AnotherResponse} where the file is not here any more, or another instance has it */
  find({ workspaceId }: SignedIn, id: string): Upload {
    const upload = this.of(workspaceId);
    if (upload?.id !== id) throw new AnotherResponse((response) => sendPage(response, 'uploadGone', GONE));
    return upload;
  }

  of(workspaceId: SignedIn['workspaceId']): Upload | null {
    return this.uploads.get(workspaceId) ?? null;
  }

  /** Begins with a dry run. An upload of the workspace that waits is removed. @throws 409 while one is under way */
  begin(me: SignedIn, { path }: StoredFile, options: UploadOptions, typed: Typed): Upload {
    const { workspaceId } = me;
    const before = this.replaceable(me);
    if (before) this.remove(before);
    const started: Upload = {
      ...{ id: randomUUID(), workspaceId, name: basename(path), path, options, typed, uploadedAt: new Date() },
      ...{ endedAt: performance.now(), state: 'trying', progress: null, report: null, reason: null, failedKept: 0 },
    };
    this.uploads.set(workspaceId, started);
    this.runs.next(() => this.run(started, me));
    return started;
  }

  /** Imports what the dry run read. A second call does nothing. */
  import(me: SignedIn, upload: Upload): void {
    if (upload.state !== 'tried') return;
    Object.assign(upload, { state: 'importing', progress: null, reason: null });
    this.runs.next(() => this.run(upload, me));
  }

  /** Removes files an hour after the end of their last run, and nothing that is under way. */
  expire(): void {
    this.processes.endIdle();
    for (const upload of this.idle()) if (performance.now() - upload.endedAt >= KEPT_MS) this.remove(upload);
  }

  /** Interrupts what is under way: its record says so. */
  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    this.stopping = true;
    this.runs.complete();
    this.processes.end();
    await this.done;
    for (const upload of this.uploads.values()) this.remove(upload);
  }

  /** Removes the upload of the workspace, or else the one whose last run ended first. @throws 409 and 503 */
  private makeRoom(me: SignedIn): void {
    const [oldest] = this.idle().sort((one, other) => one.endedAt - other.endedAt);
    const ended = this.replaceable(me) ?? oldest;
    if (!ended) throw new ServiceUnavailableException('Too many files are on their way. Try again in a few minutes.');
    this.remove(ended);
  }

  /** The upload whose place another one takes. @throws 409 while it is under way */
  private replaceable({ workspaceId }: SignedIn): Upload | null {
    const upload = this.of(workspaceId);
    if (!upload || !isUnderWay(upload)) return upload;
    throw new AnotherFile('An import of this workspace is under way. Wait for its end.');
  }

  private idle = (): Upload[] => [...this.uploads.values()].filter((upload) => !isUnderWay(upload));

  private remove(upload: Upload): void {
    this.files.remove(upload.path);
    this.uploads.delete(upload.workspaceId);
  }

  /** Never fails: the others that wait for their turn would not run. */
  private async run(upload: Upload, { personId, requestId }: SignedIn): Promise<void> {
    const { id, workspaceId, path, options } = upload;
    const dryRun = upload.state === 'trying';
    upload.failedKept = 0;
    try {
      // The right may have ended while others had their turn.
      const [{ state, role } = {}] = await this.people.list(workspaceId, [personId]);
      if (state !== 'open' || role !== 'admin') throw new ForbiddenException('Its person may not import any more.');
      if (this.stopping) throw new ServiceUnavailableException('The console stopped.');
      const failedRecords = this.files.failedRecordsOf(path);
      const order = { author: { personId, requestId }, workspaceId, path, failedRecords, options, dryRun };
      const end = await this.processes.run(order, (news) => Object.assign(upload, news));
      if ('report' in end) Object.assign(upload, { ...end, state: dryRun ? 'tried' : 'imported' });
      else Object.assign(upload, { reason: end.refusal, state: end.mayRepeat && !dryRun ? 'tried' : 'refused' });
    } catch (error) {
      const isTold = error instanceof HttpException;
      if (!isTold) this.logger.error({ message: 'import of an upload failed', upload: id, error });
      Object.assign(upload, { state: 'refused', reason: isTold ? error.message : OURS });
    } finally {
      upload.endedAt = performance.now();
      if (upload.state !== 'tried') this.files.remove(path, { keepsFailedRecords: upload.failedKept > 0 });
    }
  }
}
