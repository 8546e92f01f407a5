import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = resolve(__dirname, '../..');

export interface Violation {
  readonly rule: string;
  readonly file: string;
}

/** A small project outside this one, so that its violations reach neither the compiler nor the real checks. */
export class PlantedTree {
  readonly directory = mkdtempSync(join(realpathSync(tmpdir()), 'planted-'));

  constructor(files: Readonly<Record<string, string>>) {
    for (const [path, text] of Object.entries(files)) {
      const target = join(this.directory, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Applies this project's import rules to a planted tree. */
export function importViolationsIn({ directory }: PlantedTree): Violation[] {
  const { summary } = outputOf<CruiseReport>(directory, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs', [
    ...['apps', 'libs', 'test', '--config', join(root, '.dependency-cruiser.cjs')],
    ...['--output-type', 'json', '--no-progress'],
  ]);
  if (summary.totalCruised === 0) throw new Error(`No file was read in ${directory}.`);
  return summary.violations.map(({ rule, from }) => ({ rule: rule.name, file: from }));
}

/** Applies this project's lint rules to a planted tree, as if its folders were the project's. */
export function lintViolationsIn(tree: PlantedTree): Violation[] {
  const config = join(tree.directory, 'eslint.config.mjs');
  writeFileSync(config, `export { default } from '${pathToFileURL(join(root, 'eslint.config.mjs')).href}';\n`);
  const files = outputOf<LintReport>(tree.directory, 'node_modules/eslint/bin/eslint.js', ['.', '--format', 'json']);
  return files.flatMap(({ filePath, messages }) =>
    messages.map(({ ruleId, message }) => ({
      rule: ruleId ?? message,
      file: relative(tree.directory, filePath).split(sep).join('/'),
    })),
  );
}

/** Returns the rules that this project configures itself, as opposed to those of named rule sets. */
export function ownLintRules(): string[] {
  const script = `
    const { default: entries } = await import(process.argv[1]);
    const own = entries.filter(({ name }) => name === undefined).flatMap(({ rules = {} }) => Object.entries(rules));
    console.log(JSON.stringify(own.filter(([, setting]) => setting !== 'off').map(([rule]) => rule)));`;
  const config = pathToFileURL(join(root, 'eslint.config.mjs')).href;
  const args = ['--input-type=module', '--eval', script, config];
  return [...new Set(reportOf<string[]>(root, args))].sort();
}

function outputOf<Report>(directory: string, program: string, args: readonly string[]): Report {
  return reportOf(directory, [join(root, program), ...args]);
}

function reportOf<Report>(directory: string, args: readonly string[]): Report {
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000,
  });
  // Both programs exit with failure when they find something. Without a report they crashed.
  if (!stdout.trim()) throw new Error(stderr);
  return JSON.parse(stdout) as Report;
}

interface CruiseReport {
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly { readonly rule: { readonly name: string }; readonly from: string }[];
  };
}

type LintReport = readonly {
  readonly filePath: string;
  readonly messages: readonly { readonly ruleId: string | null; readonly message: string }[];
}[];
