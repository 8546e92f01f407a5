import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ConflictException, HttpException, Injectable, Logger } from '@nestjs/common';
import { Settings } from '#libs/platform/config';
import type { SignedIn } from '../domain/signed-in';

export const MOST_BYTES = 100_000_000;
/** Bounds the disk: uploads that are received, lie here, or left failed records. */
export const MOST_FILES = 20;
/** Enough of a name to know the file by, and never too long for a file system. */
const MOST_CHARACTERS = 60;

/** Another file of the workspace comes, or is imported. */
export class AnotherFile extends ConflictException {}

/** The request that sends a file. `admit` rejects with an {@link HttpException} once the person may not send it any more. */
export type Sender = Readable & { readonly signedIn: SignedIn; readonly admit: () => Promise<unknown> };
export type SentFile = { readonly originalname: string; readonly stream: Readable };

/** Uploaded files in a directory of this instance, which nobody else on the machine can read. */
@Injectable()
export class UploadFiles {
  private readonly logger = new Logger('UploadFiles');
  private readonly directory: string;
  /** By workspace. Each ends its file when its person lost the right. */
  private readonly receiving = new Map<string, () => Promise<unknown>>();

  constructor({ console: { host, port } }: Settings) {
    this.directory = join(tmpdir(), `compliance-console-${encodeURIComponent(host)}-${port}`);
  }

  /** Call it when the console listens. Before, the files may be those of another one, which has the port. */
  empty(): void {
    rmSync(this.directory, { recursive: true, force: true });
    this.makeDirectory();
  }

  /** Removes the file and its failed records, at the next start where that fails. No timer or form reader catches errors. */
  remove(path: string, { keepsFailedRecords = false } = {}): void {
    const [folder, failed] = [dirname(path), this.failedRecordsOf(path)];
    try {
      // Somebody who still reads them, however slowly, would keep their place on the disk.
      if (!keepsFailedRecords && existsSync(failed)) truncateSync(failed);
      rmSync(keepsFailedRecords ? folder : dirname(folder), { recursive: true, force: true });
    } catch (error) {
      this.logger.error({ message: 'upload not removed', error });
    }
  }

  failedRecordsOf = (path: string): string => join(dirname(dirname(path)), 'failed-records.ndjson');

  /**
   * Refuses a second file of a workspace until the whole request of the first one came, so that no workspace takes all
   * places. No byte of the second one is stored. The first one ends instead when its person lost the right.
   * @param makeRoom removes another file, or throws
   */
  async store(sender: Sender, { originalname, stream }: SentFile, makeRoom: () => void): Promise<string> {
    const { workspaceId } = sender.signedIn;
    await this.receiving.get(workspaceId)?.();
    if (this.receiving.has(workspaceId)) {
      throw new AnotherFile('Another file of this workspace is on its way. Wait for its end.');
    }
    const path = this.makePlace(originalname, makeRoom);
    const stored = pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o600 })).catch((error: unknown) => {
      this.remove(path);
      throw error;
    });
    const free = (): boolean => this.receiving.delete(workspaceId);
    const over = stored.then(() => finished(sender)).then(free, free);
    const giveWay = async (refusal: Error): Promise<void> => {
      // The look for the right itself failed.
      if (!(refusal instanceof HttpException)) throw refusal;
      stream.destroy(refusal);
      // What follows a file is short.
      if (stream.readableEnded) sender.destroy();
      await over;
    };
    this.receiving.set(workspaceId, () => sender.admit().catch(giveWay));
    await stored;
    return path;
  }

  private makePlace(name: string, makeRoom: () => void): string {
    // A cleaner of temporary files may have removed it.
    if (!existsSync(this.directory)) this.makeDirectory();
    while (readdirSync(this.directory).length >= MOST_FILES) makeRoom();
    const folder = join(this.directory, randomUUID(), 'file');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return join(folder, nameOf(name));
  }

  /** Not recursive, so that it fails where somebody else made the directory. */
  private makeDirectory(): void {
    mkdirSync(this.directory, { mode: 0o700 });
  }
}

/** The import tells the format by the end of the name, and its record shows the name. */
function nameOf(original: string): string {
  const name = [...original.replace(/[/\0\p{Surrogate}]/gu, '_')].slice(-MOST_CHARACTERS).join('');
  return ['', '.', '..'].includes(name) ? 'upload' : name;
}
