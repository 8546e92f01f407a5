import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, root } from './project-files';

/** The one Redis of the run, and an end of all that is in it. */
const EMPTIES_THE_SHARED_REDIS = /TEST_REDIS_URL[^]*\.flush(?:all|db)\(/;

it('no test empties the Redis that others are using beside it', () => {
  const tests = projectFiles().filter((path) => /^test\/(?!architecture\/).*\.ts$/.test(path));
  const texts = tests.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);
  expect(texts.filter(([, text]) => text.includes('TEST_REDIS_URL')).length).toBeGreaterThan(5);
  expect(texts.filter(([, text]) => EMPTIES_THE_SHARED_REDIS.test(text)).map(([path]) => path)).toEqual([]);
});
