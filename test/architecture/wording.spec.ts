import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, root } from './project-files';

// A letter in brackets matches itself and keeps an expression from matching its own source.
const FOREIGN_WORDS: Readonly<Record<string, RegExp>> = {
  'a path of one machine': /(?<![\w.])\/([w]ork|[f]arm|[r]oot|[U]sers)\/|(?<![\w.])\/[h]ome\/(?!node\b)|[C]:\\[U]sers/,
  'a folder beside the project': /\.\.\/[s]hared\b/,
  'a package registry':
    /[r]egistry\.(npmjs|yarnpkg|npmmirror)\.|[n]pm\.pkg\.github|[a]rtifactory|\/[n]exus\/repository/i,
  'a word of the workplace': /\b([c]laude|[a]nthropic|[o]penai|[c]hatgpt|[c]opilot|[s]ubagent|[c]o-authored-by)\b/i,
};

/** A later reader learns what is missing only from the words after the marker. */
const UNFINISHED: Readonly<Record<string, RegExp>> = {
  'unfinished work without a note': /\b([T]ODO|[F]IXME|[X]XX)\b(?!: \S+ \S+)/,
};

const SWITCHED_OFF: Readonly<Record<string, RegExp>> = {
  'a test that runs alone or not at all': /\b(describe|it|test)(\.\w+)*\.([o]nly|[s]kip|[t]odo)\b/,
  'a test switched off by a letter': /\b([f]describe|[f]it|[x]describe|[x]it|[x]test)\s*[(.]/,
};

/** Contracts contain tests as well, which each adapter's specification runs. */
const isTest = (path: string) => /(spec|\.contract)\.ts$/.test(path);

/** Returns the forbidden wordings in a file's text. */
function faultsOf(path: string, text: string): string[] {
  const rules = { ...FOREIGN_WORDS, ...UNFINISHED, ...(isTest(path) ? SWITCHED_OFF : {}) };
  return Object.keys(rules).filter((name) => rules[name]?.test(text));
}

describe('The wording rules', () => {
  it('hold in every file of the project', () => {
    const files = projectFiles();
    expect(files).toContain('package.json');
    const faults = files.flatMap((path) =>
      faultsOf(path, readFileSync(join(root, path), 'utf8')).map((fault) => `${path}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  it.each([
    ['a path of one machine', ['see /', 'work/main']],
    ['a path of one machine', ['"/', 'root/.npmrc"']],
    ['a path of one machine', ['/ho', 'me/ada/project']],
    ['a path of one machine', ['/Us', 'ers/ada/project']],
    ['a path of one machine', ['cd /', 'farm/tools']],
    ['a folder beside the project', ["'../", "shared/design'"]],
    ['a package registry', ['https://regis', 'try.npmjs.org/zod']],
    ['a package registry', ['https://example.com/arti', 'factory/npm']],
    ['a word of the workplace', ['written by Clau', 'de']],
    ['unfinished work without a note', ['# TO', 'DO']],
    ['unfinished work without a note', ['-- FIX', 'ME later']],
    ['unfinished work without a note', ['<!-- X', 'XX -->']],
  ])('catches %s: %j', (fault, halves) => {
    expect(faultsOf('docs/planted.md', halves.join(''))).toEqual([fault]);
  });

  it.each([
    ['a test that runs alone or not at all', ['describe.on', 'ly("x", f)']],
    ['a test that runs alone or not at all', ['it.sk', 'ip("x", f)']],
    ['a test that runs alone or not at all', ['it.each.sk', 'ip([1])("x", f)']],
    ['a test that runs alone or not at all', ['test.to', 'do("x")']],
    ['a test switched off by a letter', ['fdes', 'cribe("x", f)']],
    ['a test switched off by a letter', ['xi', 't("x", f)']],
  ])('catches %s: %j', (fault, halves) => {
    expect(faultsOf('libs/planted.spec.ts', halves.join(''))).toEqual([fault]);
    expect(faultsOf('libs/planted.contract.ts', halves.join(''))).toEqual([fault]);
  });

  it.each([
    'app.setPrefix("/v1/work/items")',
    'COPY . /home/node/app',
    'the root of /rooted/ paths',
    'lines.skip(2)',
    '# TO' + 'DO: drop this once every replica runs Postgres 18',
  ])('accept %s', (text) => expect(faultsOf('libs/planted.spec.ts', text)).toEqual([]));
});
