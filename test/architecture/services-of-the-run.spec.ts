import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, root } from './project-files';

/** The function for the shared Redis of the run, and the variable with its address. */
const SHARED = /\bredisOfTheRun\b/;
const VARIABLE = 'TEST_REDIS_URL';
/** The module that reads the variable, and the one that sets it. */
const KNOW_THE_VARIABLE = ['test/support/global-setup.ts', 'test/support/redis-of-the-run.ts'];
/** Any way to empty Redis: by the client, by a script, or by a raw command. */
const EMPTIES = /\bflush(?:all|db)\b/i;

const tests = projectFiles().filter((path) => /^test\/(?!architecture\/).*\.ts$/.test(path));
const texts = tests.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);

it('no test empties the shared Redis', () => {
  const users = texts.filter(([, text]) => SHARED.test(text));
  expect(users.length).toBeGreaterThan(5);
  expect(texts.filter(([, text]) => EMPTIES.test(text)).length).toBeGreaterThan(0);
  expect(users.filter(([, text]) => EMPTIES.test(text)).map(([path]) => path)).toEqual([]);
});

it('every test gets the shared Redis from one module', () => {
  expect(texts.filter(([, text]) => text.includes(VARIABLE)).map(([path]) => path)).toEqual(KNOW_THE_VARIABLE);
});
