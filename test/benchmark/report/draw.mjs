// Draws plots: a JSON array of [vega-lite specification, file to write] on standard input. A program of its own, because
// vega is an ES module that only an ES module can load.
import { readFileSync, writeFileSync } from 'node:fs';
import { View, parse } from 'vega';
import { compile } from 'vega-lite';

for (const [specification, file] of JSON.parse(readFileSync(0, 'utf8'))) {
  const view = new View(parse(compile(specification).spec), { renderer: 'none' });
  writeFileSync(file, `${await view.toSVG()}\n`);
}
