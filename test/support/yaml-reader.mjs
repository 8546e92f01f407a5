// Reads YAML files with one or more documents each: paths as a JSON array on stdin, an object of arrays on stdout. A
// separate process, because jest cannot load the YAML parser, an ES module.
import { readFileSync } from 'node:fs';
import { parseYaml } from '@redocly/openapi-core';

const documents = (path) =>
  readFileSync(path, 'utf8')
    .split(/^---$/m)
    .map((text) => parseYaml(text, { filename: path }));
const paths = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(Object.fromEntries(paths.map((path) => [path, documents(path)]))));
