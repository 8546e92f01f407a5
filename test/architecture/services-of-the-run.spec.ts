import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, root } from './project-files';

/** The one Redis of the run. */
const SHARED = 'TEST_REDIS_URL';
/** An end of all that is in one: by the client, by a script, or by a command that is sent as it is. */
const EMPTIES = /\bflush(?:all|db)\b/i;

it('no test empties the Redis that others are using beside it', () => {
  const tests = projectFiles().filter((path) => /^test\/(?!architecture\/).*\.ts$/.test(path));
  const texts = tests.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);
  const users = texts.filter(([, text]) => text.includes(SHARED));
  expect(users.length).toBeGreaterThan(5);
  expect(texts.filter(([, text]) => EMPTIES.test(text)).length).toBeGreaterThan(0);
  expect(users.filter(([, text]) => EMPTIES.test(text)).map(([path]) => path)).toEqual([]);
});
