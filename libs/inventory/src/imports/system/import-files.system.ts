import { constants, fstatSync, openSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { ImportFiles, type InputLine, InputUnreadable, type ReadingOptions } from '../domain/import-files.port';
import type { BytesRead } from '../domain/import-report';
import { csvLines } from './csv-lines';
import { formatOfRecords, opened } from './input-format';
import { mappedLines } from './maps/mapped-lines';
import { ndjsonLines } from './ndjson-lines';
import { plainBytes } from './plain-bytes';

const STANDARD_INPUT = 0;
const NEEDS_A_MAP = 'The file is one JSON document, which only a map reads: choose a map (--map).';

/**
 * Reads NDJSON and CSV, in UTF-8 or UTF-16 and optionally gzipped, and with a map also JSON documents. Name and first
 * bytes tell the format. `-` is standard input.
 */
@Injectable()
export class ImportFilesSystem extends ImportFiles {
  sizeOf(file: string): number | null {
    try {
      return sizeOf(file);
    } catch {
      return null;
    }
  }

  async *read(
    files: readonly string[],
    onBytes: (bytes: BytesRead) => void,
    { map, format, mostBytes = Infinity }: ReadingOptions,
  ): AsyncIterable<readonly InputLine[]> {
    const sizes = files.map(sizeOf);
    const bytesTotal = sizes.reduce<number | null>(
      (sum, size) => (sum === null || size === null ? null : sum + size),
      0,
    );
    let bytesRead = 0;
    for (const [fileIndex, file] of files.entries()) {
      const counted = counting(contentOf(file), (length) => onBytes({ bytesRead: (bytesRead += length), bytesTotal }));
      try {
        const { start, bytes } = await opened(bounded(plainBytes(counted, /\.gz$/i.test(file)), file, mostBytes));
        const found = map === null ? formatOfRecords(file, start, format) : null;
        if (map !== null) yield* mappedLines(bytes, start, { fileIndex, file, format, map });
        else if (found === 'csv') yield* csvLines(bytes, fileIndex);
        else if (found === 'json') yield [{ fileIndex, line: 1, fault: NEEDS_A_MAP }];
        else yield* ndjsonLines(bytes, fileIndex);
      } catch (error) {
        throw isOfZlib(error) ? new InputUnreadable(`${file} cannot be unzipped: ${error.message}.`) : error;
      } finally {
        // Closes a file that was not read to its end. Not awaited: a read of a pipe may be under way and never end.
        counted.return(undefined).catch(() => undefined);
      }
    }
  }
}

function contentOf(file: string): AsyncIterable<Buffer> {
  if (file === '-') return process.stdin;
  if (!statSync(file).isFIFO()) return contentOfFile(file);
  // Where nobody writes, a thread would wait for ever, and the process could not end.
  return new Socket({ fd: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
}

/** Refuses a file that grows meanwhile: it may end anywhere, and its missing assets must not be hidden. */
async function* contentOfFile(file: string): AsyncGenerator<Buffer> {
  const handle = await open(file);
  try {
    const before = await handle.stat();
    for await (const chunk of handle.createReadStream({ autoClose: false })) yield chunk as Buffer;
    const after = await handle.stat();
    if (before.isFile() && (after.size !== before.size || after.mtimeMs !== before.mtimeMs)) {
      throw new InputUnreadable(`${file} changed while it was read.`);
    }
  } finally {
    await handle.close();
  }
}

async function* counting(content: AsyncIterable<Buffer>, onBytes: (length: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** A small gzipped file may hold any number of bytes. */
async function* bounded(content: AsyncIterable<Buffer>, file: string, most: number): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    if (length > most) throw new InputUnreadable(`${file} has more than ${most.toLocaleString('en')} bytes unpacked.`);
    yield chunk;
  }
}

/** zlib does not know the name of the file. */
const isOfZlib = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');

/**
 * Returns the size in bytes, or null for standard input and what is no regular file. For a directory, throws the error of
 * opening it, which unlike the error of reading it names the path. Node reads a directory as an empty standard input.
 */
function sizeOf(file: string): number | null {
  const found = file === '-' ? fstatSync(STANDARD_INPUT) : statSync(file);
  if (!found.isDirectory()) return file !== '-' && found.isFile() ? found.size : null;
  const path = file === '-' ? 'Standard input' : file;
  throw Object.assign(new Error(`EISDIR: illegal operation on a directory, open '${path}'`), { code: 'EISDIR', path });
}
