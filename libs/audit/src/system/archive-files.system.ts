import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { ArchiveFiles } from '../domain/archive-files.port';
import { ArchiveRefused } from '../domain/audit-archive-store.port';

/** Other users may not read the audit. */
const MODE = 0o600;

export class ArchiveFilesSystem extends ArchiveFiles {
  async write(path: string, lines: AsyncIterable<string> | Iterable<string>): Promise<void> {
    const part = `${path}.${randomUUID()}.part`;
    const file = await open(part, 'wx', MODE);
    try {
      try {
        for await (const line of lines) await file.writeFile(`${line}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      if (!existsSync(path)) await rename(part, path);
      else if (!(await digestOf(path)).equals(await digestOf(part))) {
        throw new ArchiveRefused(`${path} has other content. Move it away.`);
      }
      await syncDirectory(dirname(path));
    } finally {
      await rm(part, { force: true });
    }
  }

  async *lines(path: string): AsyncGenerator<string> {
    yield* createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  }
}

async function digestOf(path: string): Promise<Buffer> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return digest.digest();
}

/** A new name is lost in a crash until its directory is on disk. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
