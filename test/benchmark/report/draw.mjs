// Draws plots from a JSON array of [vega-lite specification, output file] on standard input. A separate program,
// because vega is an ES module.
import { readFileSync, writeFileSync } from 'node:fs';
import { View, parse } from 'vega';
import { compile } from 'vega-lite';

for (const [specification, file] of JSON.parse(readFileSync(0, 'utf8'))) {
  const view = new View(parse(compile(specification).spec), { renderer: 'none' });
  writeFileSync(file, `${await view.toSVG()}\n`);
}
