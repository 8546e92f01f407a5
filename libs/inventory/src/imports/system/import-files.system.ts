import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import { ImportFiles, type InputLine } from '../domain/import-files.port';
import type { ImportProgress } from '../domain/import-report';
import { csvLines } from './csv-lines';
import { ndjsonLines } from './ndjson-lines';

type OnBytes = (bytes: Omit<ImportProgress, 'read'>) => void;

/**
 * Reads NDJSON, or CSV when the name ends in `.csv`, in either case and optionally gzipped (`.gz`). `-` is NDJSON on
 * standard input.
 */
@Injectable()
export class ImportFilesSystem extends ImportFiles {
  async *read(files: readonly string[], onBytes: OnBytes): AsyncIterable<readonly InputLine[]> {
    const known = !files.includes('-');
    const sizes = files.filter((file) => file !== '-').map(sizeOf);
    const bytesTotal = known ? sizes.reduce((sum, size) => sum + size, 0) : null;
    let bytesRead = 0;
    for (const [fileIndex, file] of files.entries()) {
      const bytes: Readable = file === '-' ? process.stdin : createReadStream(file);
      bytes.on('data', (chunk: Buffer) => onBytes({ bytesRead: (bytesRead += chunk.length), bytesTotal }));
      const content = /\.gz$/i.test(file) ? bytes.pipe(createGunzip()) : bytes;
      // `pipe` does not forward errors. A file that vanishes half way must fail the import, not end it early.
      bytes.on('error', (error) => content.destroy(error));
      try {
        yield* /\.csv(\.gz)?$/i.test(file) ? csvLines(content, fileIndex) : ndjsonLines(content, fileIndex);
      } catch (error) {
        throw isOfZlib(error) ? new Error(`${file} cannot be unzipped: ${error.message}.`) : error;
      }
    }
  }
}

/** zlib does not know the name of the file. */
const isOfZlib = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');

/**
 * Returns the size in bytes. For a directory, throws the error of opening it, which unlike the error of reading it
 * names the path.
 */
function sizeOf(file: string): number {
  const found = statSync(file);
  if (!found.isDirectory()) return found.size;
  throw Object.assign(new Error(`EISDIR: illegal operation on a directory, open '${file}'`), {
    code: 'EISDIR',
    path: file,
  });
}
