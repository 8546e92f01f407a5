/**
 * @needs curl
 * @needs haproxy
 * @needs openssl
 * @needs psql
 * @needs redis-cli
 * @needs redis-server
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { examplesOf } from '../support/doc-examples';
import { freePort } from '../support/free-port';
import { packedShell } from '../support/module-pack/module-pack';
import { demandProgram, searchPath } from '../support/programs.cjs';
import { RedisProcess } from '../support/redis-process';
import { type TemporaryPostgres, startTemporaryPostgres } from '../support/temporary-postgres';

const ROOT = join(__dirname, '../..');
const FILES = [
  ...['docker/production.env.example', 'docker/console.env.example'],
  ...['docker/haproxy/host.cfg', 'docker/haproxy/malformed.http'],
];
/** Stands between the outputs of two blocks. */
const BETWEEN = '--- next block ---\n';
const BLOCKS = ['production.md', 'operations.md'].flatMap(examplesOf).filter(({ name }) => name !== null);

/**
 * Runs the blocks of docs/production.md in one shell, as an operator does, and then those of an upgrade. The directories
 * and ports of the pages become those of the test, in the blocks as in the files that they read.
 */
describe('docs/production.md', () => {
  let directory: string;
  let postgres: TemporaryPostgres;
  let redis: RedisProcess;
  let shell: ChildProcess;
  let substitutes: Record<string, string>;
  let exitCode: number;
  let errors = '';
  const outputs: Record<string, string> = {};
  const file = (path: string): string => join(directory, path);

  beforeAll(async () => {
    for (const program of ['curl', 'haproxy', 'openssl', 'psql', 'redis-cli'] as const) demandProgram(program);
    directory = mkdtempSync(join(tmpdir(), 'compliance-page-'));
    [postgres, redis] = await Promise.all([startEmptyPostgres(), RedisProcess.start(demandProgram('redis-server'))]);
    substitutes = await substitutesOfTheTest();
    prepare();
    const script = BLOCKS.map(({ code }) => code).join(`\necho '${BETWEEN.trim()}'\n`);
    // Its own process group, which the instances and the proxy join.
    shell = spawn('sh', ['-eu', '-c', substituted(script)], {
      cwd: file('opt/compliance'),
      env: {
        ...packedShell(),
        PATH: `${file('bin')}:${searchPath()}`,
        REDISCLI_AUTH: new URL(redis.url).password,
        ...(process.env['TMPDIR'] ? { TMPDIR: process.env['TMPDIR'] } : {}),
      },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    shell.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    shell.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    [exitCode] = (await once(shell, 'close')) as [number];
    output.split(BETWEEN).forEach((text, place) => (outputs[BLOCKS[place]?.name ?? ''] = text));
  }, 170_000);
  afterAll(async () => {
    if (shell?.pid !== undefined) {
      try {
        process.kill(-shell.pid, 'SIGKILL');
      } catch {
        // Every process of the group has ended.
      }
    }
    await Promise.all([postgres?.stop(), redis?.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });

  /** A server without the roles and the database that the page creates. */
  async function startEmptyPostgres(): Promise<TemporaryPostgres> {
    const server = await startTemporaryPostgres();
    const client = new Client({ connectionString: server.superuserUrl });
    await client.connect();
    await client.query('DROP DATABASE compliance');
    await client.query('DROP ROLE compliance_owner, compliance_api, compliance_console');
    await client.end();
    return server;
  }

  /** Returns what stands in the test for the words of the page. */
  async function substitutesOfTheTest(): Promise<Record<string, string>> {
    const ports = ['443', '3001', '3002', '3101', '9091', '9092', '9191'].map(
      async (port) => [port, String(await freePort())] as const,
    );
    return {
      '/etc/compliance': file('etc/compliance'),
      '/etc/haproxy': file('etc/haproxy'),
      '/opt/compliance': file('opt/compliance'),
      '/tmp': directory,
      '/usr/local/sbin': file('bin'),
      5432: String(postgres.port),
      6379: new URL(redis.url).port,
      ...Object.fromEntries(await Promise.all(ports)),
    };
  }
  const substituted = (text: string): string =>
    text.replace(new RegExp(Object.keys(substitutes).join('|'), 'g'), (word) => substitutes[word] ?? word);

  /** Makes what the first block of either page makes on a real host. */
  function prepare(): void {
    for (const place of ['bin', 'etc/compliance/keys', 'etc/compliance-console/keys/signing', 'etc/haproxy'])
      mkdirSync(file(place), { recursive: true });
    for (const release of ['1.1.0', '1.2.0']) {
      mkdirSync(file(`opt/compliance-${release}`), { recursive: true });
      symlinkSync(join(ROOT, 'dist'), file(`opt/compliance-${release}/dist`));
    }
    symlinkSync('compliance-1.1.0', file('opt/compliance'));
    for (const path of FILES) {
      const text = substituted(readFileSync(join(ROOT, path), 'utf8'));
      const place = file(`opt/compliance/${path}`);
      mkdirSync(dirname(place), { recursive: true });
      // Only root may become another user.
      writeFileSync(place, process.getuid?.() === 0 ? text : text.replace(/^ +(user|group) haproxy\n/gm, ''));
    }
    const { hostname, port, username, password } = new URL(postgres.superuserUrl);
    // The users of the page are one user here.
    const runuser = `#!/bin/sh
if [ "$2" = postgres ]; then export PGHOST=${hostname} PGPORT=${port} PGUSER=${username} PGPASSWORD=${password}; fi
shift 3
echo "$*" >> ${file('steps.log')}
exec "$@"
`;
    writeFileSync(file('bin/runuser'), runuser, { mode: 0o755 });
    writeFileSync(file('bin/systemctl'), `#!/bin/sh\necho "$*" >> ${file('steps.log')}\n`, { mode: 0o755 });
    writeFileSync(file('bin/logname'), '#!/bin/sh\necho ada@corp\n', { mode: 0o755 });
  }

  it('has blocks that all succeed, one after the other', () => {
    const logs = ['api-1.log', 'api-2.log', 'haproxy.log', 'console.log'].map((name) => {
      try {
        return readFileSync(file(name), 'utf8');
      } catch {
        return `no ${name}`;
      }
    });
    if (exitCode !== 0) throw new Error([errors, ...logs].join('\n'));
    expect(Object.keys(outputs)).toEqual(BLOCKS.map(({ name }) => name));
  });

  it('makes keys, tables and a status without a fault', () => {
    expect(outputs['admin']).toMatch(/^Made:\n(?: {2}\S+\n){3}Applied:\n(?: {2}\w+\n)+/);
    expect(outputs['admin']).toMatch(/role of DATABASE_URL +│ compliance_api/);
    expect(outputs['admin']).toMatch(/migrations pending +│ none/);
  });

  it('records whoever logged in as the operator, not the user of the service', async () => {
    const url = new URL(postgres.superuserUrl);
    url.pathname = '/compliance';
    const client = new Client({ connectionString: url.href });
    await client.connect();
    const sql = `SELECT DISTINCT actor_name FROM audit_event WHERE actor_type = 'OPERATOR'`;
    const { rows } = await client.query(sql).finally(() => client.end());

    expect(rows).toEqual([{ actor_name: 'ada' }]);
  });

  it('starts two instances that have Postgres and Redis', () => {
    const ready = { status: 'ok', checks: { postgres: 'ok', migrations: 'ok', redis: 'ok', process: 'ok' } };
    const said = (outputs['instances'] ?? '').replace(/\}\s*\{/g, '},{');
    expect(JSON.parse(`[${said}]`)).toEqual([ready, ready]);
  });

  it('shows the owner of the database to root only', () => {
    const settings = readFileSync(file('etc/compliance/production.env'), 'utf8');
    expect(settings).not.toMatch(/MIGRATION|owner|_PASSWORD/);
    expect(settings).toContain('BASE_URL=https://api.example.com\n');
    expect(statSync(file('bin/admin')).mode & 0o777).toBe(0o700);
    expect(statSync(file('etc/compliance/production.env')).mode & 0o777).toBe(0o640);
    expect(statSync(file('etc/compliance/operators.env')).mode & 0o777).toBe(0o600);
    expect(statSync(file('etc/haproxy/api.pem.key')).mode & 0o777).toBe(0o600);
  });

  it('has a proxy that accepts its configuration without a warning', () => {
    const said = `${outputs['proxy']}${readFileSync(file('haproxy.log'), 'utf8')}`;
    // The console does not run yet.
    expect(said.replace(/^.*consoles.*$/gm, '')).not.toMatch(/WARNING|ALERT/);
    expect(errors).not.toMatch(/WARNING|ALERT/);
    expect(readFileSync(file('etc/haproxy/malformed.http'), 'utf8')).toContain(
      '"type":"https://api.example.com/problems/',
    );
  });

  it('ends with a response of the API over TLS', () => {
    const { results } = JSON.parse(outputs['request'] ?? '') as { results: { name: string }[] };
    expect(results.map(({ name }) => name)).toEqual(['Badge printer']);
  });

  it('has a proxy that logs where wrong credentials come from, and no other request', async () => {
    const address = `https://127.0.0.1:${substitutes['443']}/oauth/token?secret=in-the-query`;
    const words = ['--silent', '--insecure', '--user', `ci_${'0'.repeat(32)}:wrong`, '--write-out', '%{http_code}'];
    const curl = spawn('curl', [...words, '--data', 'grant_type=client_credentials', address], { stdio: 'ignore' });
    await once(curl, 'close');

    const requests = () => readFileSync(file('haproxy.log'), 'utf8').match(/^.* (?:GET|POST) .*$/gm) ?? [];
    for (const deadline = Date.now() + 10_000; requests().length === 0 && Date.now() < deadline;) await delay(50);

    expect(requests()).toEqual([expect.stringMatching(/127\.0\.0\.1 \[[^\]]+\] POST \/oauth\/token 401 [\w-]{36}$/)]);
  });

  it('starts a console that is ready, and that the proxy reaches by its name', () => {
    const [said = '', page = ''] = (outputs['console'] ?? '').split(/(?=<!doctype html>)/i);
    expect(said).toContain('"status":"ok","checks":{"postgres":"ok","migrations":"ok","redis":"ok"');
    expect(page).toContain('<h1>Sign in</h1>');
    expect(page).toContain('href="/sign-in/start"');
  });

  it('gives the console neither a key that signs nor the API’s password', () => {
    const keys = readdirSync(file('etc/compliance-console/keys/signing'));
    expect(keys.filter((name) => !name.endsWith('.cursor.key'))).toEqual([]);
    expect(keys).toHaveLength(1);
    const settings = readFileSync(file('etc/compliance-console/console.env'), 'utf8');
    expect(settings).not.toMatch(/compliance_api|compliance_owner|_PASSWORD/);
    const modes = ['console.env', 'keys/pepper', 'keys/oidc'].map((name) => {
      return statSync(file(`etc/compliance-console/${name}`)).mode & 0o777;
    });
    expect(modes).toEqual([0o640, 0o640, 0o640]);
  });

  it('upgrades by a migration of the new release, a link, and one restart after the other', () => {
    const steps = readFileSync(file('steps.log'), 'utf8').split('\n');
    const upgrade = steps.slice(steps.findIndex((step) => step.includes('compliance-1.2.0')));

    expect(upgrade).toEqual([
      expect.stringMatching(/opt\/compliance-1\.2\.0\/dist\/apps\/admin\/src\/main\.js migrate$/),
      'restart compliance-api@1',
      'restart compliance-api@2',
      'restart compliance-console',
      expect.stringMatching(/opt\/compliance\/dist\/apps\/admin\/src\/main\.js status$/),
      '',
    ]);
    expect(readlinkSync(file('opt/compliance'))).toBe('compliance-1.2.0');
    expect((outputs['restart'] ?? '').match(/"status":"ok"/g)).toHaveLength(3);
  });
});
