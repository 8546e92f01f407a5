import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, root } from './project-files';

// A letter in brackets matches itself and keeps an expression from matching its own source.
/** A later reader learns what is missing only from the words after the marker. */
const UNFINISHED = /\b([T]ODO|[F]IXME|[X]XX)\b(?!: \S+ \S+)/;
const SWITCHED_OFF = /\b(describe|it|test)(\.\w+)*\.([o]nly|[s]kip|[t]odo)\b|\b([fx]describe|[fx]it|[x]test)\s*[(.]/;

const files = projectFiles();
/** The files that match, of which some must exist. */
function among(paths: readonly string[], fault: RegExp): string[] {
  expect(paths.length).toBeGreaterThan(100);
  return paths.filter((path) => fault.test(readFileSync(join(root, path), 'utf8')));
}

it('no file leaves work unfinished without a note', () => expect(among(files, UNFINISHED)).toEqual([]));

it('no test is switched off, or switches off others', () => {
  // Contracts contain tests as well, which each adapter's specification runs.
  const tests = files.filter((path) => /(spec|\.contract)\.ts$/.test(path));

  expect(among(tests, SWITCHED_OFF)).toEqual([]);
});
