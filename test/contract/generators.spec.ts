import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTRACT_FILE } from './contract-files';

const PROGRAM = join(__dirname, 'generators/run.mjs');
const JAR = 'compliance-public-api-generators/openapi-generator-cli-7.25.0.jar';
const OLD = { java: 'an older contract' };

describe('npm run test:generators', () => {
  let directory: string;
  let stamp: string;
  const contract = createHash('sha256').update(readFileSync(CONTRACT_FILE)).digest('hex');
  const kept = (): unknown => JSON.parse(readFileSync(stamp, 'utf8'));

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'generators-spec-'));
    stamp = join(directory, 'passed.json');
    writeFileSync(stamp, JSON.stringify(OLD));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Java's tools, which do nothing but end with a status. */
  function placeJava(compilerStatus: number): void {
    mkdirSync(join(directory, 'compliance-public-api-generators'));
    writeFileSync(join(directory, JAR), '');
    for (const [name, status] of Object.entries({ java: 0, mvn: compilerStatus })) {
      writeFileSync(join(directory, name), `#!/bin/sh\nexit ${status}\n`, { mode: 0o755 });
    }
  }

  function run(...words: string[]): { status: number | null; stdout: string } {
    const env = { PATH: directory, XDG_CACHE_HOME: directory, HOME: directory };
    return spawnSync(process.execPath, [PROGRAM, '--stamp', stamp, ...words, 'java'], { encoding: 'utf8', env });
  }

  it('does nothing for a contract that the generators passed', () => {
    writeFileSync(stamp, JSON.stringify({ java: contract }));
    expect(run('--changed')).toMatchObject({ status: 0, stdout: 'The contract is as every generator passed it.\n' });
  });

  it('names the tools that a machine lacks for a changed contract, and does not fail', () => {
    const { status, stdout } = run('--changed');
    expect(stdout).toContain('skipped  java: needs java, openapi-generator-cli');
    expect(status).toBe(0);
  });

  it('fails when a generator does not pass a changed contract, and records nothing', () => {
    placeJava(1);
    for (const words of [['--changed'], []]) {
      const { status, stdout } = run(...words);
      expect(stdout).toContain('FAILED   java');
      expect(status).toBe(1);
    }
    expect(kept()).toEqual(OLD);
  });

  it('runs for a changed contract, and records it only when it was asked by name', () => {
    placeJava(0);
    expect(run('--changed')).toMatchObject({ status: 0 });
    expect(kept()).toEqual(OLD);

    expect(run()).toMatchObject({ status: 0 });
    expect(kept()).toEqual({ java: contract });
    expect(run('--changed').stdout).toContain('as every generator passed it');
  });
});
