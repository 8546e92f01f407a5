import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

/**
 * Installs the client in a directory, as its users do from its package file, with other packages of this project beside
 * it. Returns the path of the package file.
 */
export function installPackedClient(directory: string, others: readonly string[] = []): string {
  const file = join(process.env['TEST_LOCAL_DIR'] as string, 'client.tgz');
  // Once for all test files of a run, because it compiles the client.
  if (!existsSync(file)) {
    const packed = runProgram('npm', ['pack', '--silent', '--pack-destination', directory], join(ROOT, 'libs/client'));
    renameSync(join(directory, packed.trim().split('\n').at(-1) as string), file);
  }
  const modules = join(directory, 'node_modules');
  mkdirSync(modules);
  runProgram('tar', ['-xzf', file, '-C', modules], directory);
  runProgram('mv', ['package', 'compliance-public-api-client'], modules);
  for (const name of ['jose', 'openapi-fetch', 'openapi-typescript-helpers', ...others]) {
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  return file;
}

/** Runs a program to its end. @throws its output when it fails */
export function runProgram(program: string, words: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, encoding: 'utf8', timeout: 60_000 });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}
