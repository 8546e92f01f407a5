import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

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
  const words = ['apps', 'libs', 'test', '--config', join(root, '.dependency-cruiser.cjs')];
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [program, ...words, '--output-type', 'json', '--no-progress'],
    { cwd: directory, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, timeout: 60_000 },
  );
  // The program exits with failure when it finds something. Without a report it crashed.
  if (!stdout.trim()) throw new Error(stderr);
  const { summary } = JSON.parse(stdout) as CruiseReport;
  if (summary.totalCruised === 0) throw new Error(`No file was read in ${directory}.`);
  return summary.violations.map(({ rule, from }) => ({ rule: rule.name, file: from }));
}

interface CruiseReport {
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly { readonly rule: { readonly name: string }; readonly from: string }[];
  };
}
