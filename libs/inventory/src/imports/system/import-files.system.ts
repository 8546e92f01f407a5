import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import { type Format, ImportFiles, type InputLine, type ReadingOptions } from '../domain/import-files.port';
import type { ImportProgress } from '../domain/import-report';
import { csvLines } from './csv-lines';
import { mappedLines } from './maps/mapped-lines';
import { ndjsonLines } from './ndjson-lines';

type OnBytes = (bytes: Omit<ImportProgress, 'read'>) => void;

/**
 * Reads NDJSON, or CSV when the name ends in `.csv`, in either case and optionally gzipped (`.gz`). `-` is NDJSON on
 * standard input. With a map it also reads JSON documents, and first bytes tell what a name does not.
 */
@Injectable()
export class ImportFilesSystem extends ImportFiles {
  sizeOf(file: string): number | null {
    return file === '-' ? null : sizeOf(file);
  }

  async *read(
    files: readonly string[],
    onBytes: OnBytes,
    { map, format }: ReadingOptions,
  ): AsyncIterable<readonly InputLine[]> {
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
        if (map !== null) yield* mappedLines(content, { fileIndex, file, format, map });
        else if (isCsv(file, format)) yield* csvLines(content, fileIndex);
        else yield* ndjsonLines(content, fileIndex);
      } catch (error) {
        throw isOfZlib(error) ? new Error(`${file} cannot be unzipped: ${error.message}.`) : error;
      }
    }
  }
}

const isCsv = (file: string, format: Format | null): boolean =>
  format === null ? /\.csv(\.gz)?$/i.test(file) : format === 'csv';

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
