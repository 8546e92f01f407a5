// Reads files of YAML, each of one or more documents: paths on stdin as a JSON array, on stdout an object of arrays. In a
// process of its own, because the one reader of YAML that is at hand is an ES module, which jest does not load.
import { readFileSync } from 'node:fs';
import { parseYaml } from '@redocly/openapi-core';

const documents = (path) =>
  readFileSync(path, 'utf8')
    .split(/^---$/m)
    .map((text) => parseYaml(text, { filename: path }));
const paths = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(Object.fromEntries(paths.map((path) => [path, documents(path)]))));
