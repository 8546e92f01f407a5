import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AssetId, WorkspaceId } from '#libs/kernel';
import { runAdmin } from '../support/admin-command';
import { AuditSetting } from '../support/audit-setting';
import { type Row, expectFault } from '../support/finished-command';
import { packedShell } from '../support/module-pack/module-pack';
import { type FinishedCommand } from '../support/running-command';

function document(finished: FinishedCommand, exitCode = 0): Row {
  expect([finished.exitCode, exitCode === 0 ? finished.stderr : '']).toEqual([exitCode, '']);
  return JSON.parse(finished.stdout) as Row;
}

const itemsOf = (finished: FinishedCommand): Row[] => document(finished)['items'] as Row[];

function linesOf(finished: FinishedCommand): Row[] {
  expect([finished.stderr, finished.exitCode]).toEqual(['', 0]);
  return finished.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row);
}

describe('admin audit', () => {
  let setting: AuditSetting;
  let directory: string;
  let environment: Record<string, string>;
  let acme: WorkspaceId;
  let first: AssetId;
  const run = (...words: string[]) => runAdmin(['audit', ...words], environment);

  beforeAll(async () => {
    setting = await AuditSetting.open();
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    mkdirSync(join(directory, 'keys'));
    writeFileSync(join(directory, 'keys', 'audit'), setting.key, { mode: 0o600 });
    environment = {
      DATABASE_URL: setting.database.databaseUrl,
      MIGRATION_DATABASE_URL: setting.database.migrationDatabaseUrl,
      LOCAL_DIR: directory,
    };
    acme = await setting.aWorkspace('acme');
    const beta = await setting.aWorkspace('beta');
    const fields = { classification: { old: 'UNKNOWN', new: 'PUBLIC' }, tags: { old: [], new: ['env'] } };
    first = (await setting.record(acme, 1, { clientId: 'ci_acme', fields }))[0] as AssetId;
    await setting.seal(acme);
    for (let update = 0; update < 7; update += 1) await setting.record(acme, 100);
    await setting.record(beta, 2, { clientId: 'ci_beta' });
  });
  afterAll(async () => {
    await setting.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('lists the newest events first under the column names, as one document or as NDJSON', async () => {
    const [listed, streamed, drawn] = await Promise.all([
      run('list', '--json'),
      run('list', '--ndjson'),
      run('list', '--application', 'ci_acme'),
    ]);
    const events = linesOf(streamed);
    expect(events).toHaveLength(703);
    expect(itemsOf(listed)).toEqual(events.slice(0, 100));
    expect(events.map(({ id }) => id)).toEqual(
      events
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(events.slice(0, 3).map((event) => event['client_id'])).toEqual(['ci_beta', 'ci_beta', 'ci_test']);
    expect(events[702]).toEqual({
      workspaceId: acme,
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      occurredAt: expect.stringMatching(/^20\d\d-.*\.\d{3}Z$/) as string,
      action: 'asset.updated',
      actorType: 'APPLICATION',
      actorName: null,
      targetType: 'ASSET',
      targetId: first,
      assetId: first,
      applicationId: expect.any(String) as string,
      client_id: 'ci_acme',
      requestId: 'req-1',
      keyHash: 'ab'.repeat(32),
      changes: { classification: { old: 'UNKNOWN', new: 'PUBLIC' }, tags: { old: [], new: ['env'] } },
      mac: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      sequence: 1,
    });
    expect(events[0]).toMatchObject({ sequence: null });
    expect(drawn.stdout).toContain('classification: "UNKNOWN" → "PUBLIC"');
  });

  it('filters by workspace, asset, application and time, and limits the number of events', async () => {
    const [workspace, asset, limited, later, recent, other] = await Promise.all([
      run('list', '--workspace', 'beta', '--json'),
      run('list', '--asset', first.toUpperCase(), '--ndjson'),
      run('list', '--workspace', 'acme', '--application', 'ci_test', '--limit', '3', '--ndjson'),
      run('list', '--since', '2999-01-01T00:00:00Z', '--json'),
      run('list', '--since', '1h', '--application', 'ci_beta', '--json'),
      run('list', '--asset', acme, '--json'),
    ]);
    expect(itemsOf(workspace).map((event) => event['client_id'])).toEqual(['ci_beta', 'ci_beta']);
    expect(linesOf(asset).map(({ assetId }) => assetId)).toEqual([first]);
    expect(linesOf(limited).map((event) => event['client_id'])).toEqual(['ci_test', 'ci_test', 'ci_test']);
    expect(itemsOf(later)).toEqual([]);
    expect(itemsOf(recent)).toHaveLength(2);
    expect(itemsOf(other)).toEqual([]);
  });

  it('lists nothing, without a fault, when no event of a deleted application matches the other filters', async () => {
    const filtered = await Promise.all([
      run('list', '--application', 'ci_beta', '--since', '2999-01-01T00:00:00Z', '--json'),
      run('list', '--application', 'ci_beta', '--workspace', 'acme', '--json'),
      run('list', '--application', 'ci_beta', '--asset', first, '--json'),
    ]);

    expect(filtered.map(itemsOf)).toEqual([[], [], []]);
  });

  it('escapes control characters that a terminal would obey', async () => {
    const fields = { '\u009bfield': { old: '\u202eevil', new: '\u009b2J\u007f' } };
    const workspace = await setting.aWorkspace('terminal');
    await setting.record(workspace, 1, { clientId: 'ci_\u2066', fields });
    const { stdout } = await run('list', '--workspace', 'terminal');
    await setting.tamper(workspace, 'DELETE FROM audit_event WHERE workspace_id = $1');
    expect(stdout).toContain('"\\u{202e}evil" → "\\u{9b}2J\\u{7f}"');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('exits quietly when its reader closes the pipe', async () => {
    const { stdout, stderr } = await promisify(execFile)(
      'sh',
      ['-c', `node apps/admin/run.mjs audit list --ndjson | head -n 1`],
      {
        env: { ...packedShell(), PATH: process.env['PATH'], ...environment },
      },
    );
    expect([stdout.trim().split('\n').length, stderr]).toEqual([1, '']);
  });

  it('fails when the file has no room for all that it shows, as on a full disk', async () => {
    const file = join(directory, 'cut');
    const failed = await promisify(execFile)(
      'sh',
      ['-c', `ulimit -f 1; node apps/admin/run.mjs audit list --json > '${file}'`],
      { env: { ...packedShell(), PATH: process.env['PATH'], ...environment } },
    ).catch((error: { readonly code: number; readonly stderr: string }) => error);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: The output could not/) as string });
  });

  it('accepts an untouched audit log and names the first event that was changed', async () => {
    const [whole, drawn] = await Promise.all([run('verify', '--json'), run('verify', '--workspace', 'beta')]);
    expect(document(whole)).toEqual({ ok: true, sealed: 1, unsealed: 702, firstBad: null });
    expect([drawn.exitCode, drawn.stderr]).toEqual([0, '']);
    expect(drawn.stdout).toBe('0 sealed and 2 unsealed events: all as they were recorded.\n');

    await setting.seal(acme);
    await setting.tamper(
      acme,
      `UPDATE audit_event SET client_id = 'ci_other' WHERE workspace_id = $1 AND sequence IN (5, 600)`,
    );
    const [found, told, spared] = await Promise.all([
      run('verify', '--json'),
      run('verify'),
      run('verify', '--workspace', 'beta', '--json'),
    ]);
    expect(document(found, 1)).toEqual({
      ...{ ok: false, sealed: 701, unsealed: 2 },
      firstBad: { workspace: 'acme', sequence: 5, reason: expect.stringMatching(/MAC does not match/) as string },
    });
    for (const finished of [found, told]) {
      expect(finished.stderr).toMatch(/^error: The audit of "acme" does not verify \(sequence 5\): [^\n]+\n$/);
    }
    expect([told.exitCode, told.stdout]).toEqual([1, '']);
    expect(document(spared)).toMatchObject({ ok: true });

    await setting.tamper(acme, `UPDATE audit_event SET client_id = 'ci_test' WHERE client_id = 'ci_other'`);
    await setting.tamper(acme, `UPDATE audit_event SET key_hash = '' WHERE client_id = 'ci_beta'`);
    expect(document(await run('verify', '--json'), 1)['firstBad']).toMatchObject({ workspace: 'beta', sequence: null });
  });

  it('exits 1 for an unknown workspace or client id, and for an invalid audit key', async () => {
    const [noWorkspace, noneToVerify, noClient] = await Promise.all([
      run('list', '--workspace', 'none', '--json'),
      run('verify', '--workspace', 'none', '--json'),
      run('list', '--application', 'ci_none', '--ndjson'),
    ]);
    for (const finished of [noWorkspace, noneToVerify]) expectFault(finished, 1, /no workspace "none"/);
    expectFault(noClient, 1, /no application with the client id "ci_none"/);

    writeFileSync(join(directory, 'short'), 'secret');
    const keyed = (name: string, words: Record<string, string> = {}) =>
      runAdmin(['audit', 'verify'], { ...environment, AUDIT_KEY_FILE: join(directory, name), ...words });
    const production = {
      NODE_ENV: 'production',
      SIGNING_KEYS_DIR: join(directory, 'keys', 'signing'),
      SECRET_PEPPER_FILE: join(directory, 'keys', 'pepper'),
    };
    const [missing, short] = await Promise.all([keyed('none', production), keyed('short')]);
    expectFault(missing, 1, /AUDIT_KEY_FILE names .* which does not exist; run: admin keys init/);
    expectFault(short, 1, /AUDIT_KEY_FILE names .* which holds less than 32 bytes/);
  });

  it('exits 1 when the role of MIGRATION_DATABASE_URL does not own the tables, so that it sees no event', async () => {
    const unfit = { ...environment, MIGRATION_DATABASE_URL: setting.database.databaseUrl };

    for (const words of [['audit', 'verify'], ['audit', 'list'], ['workspaces', 'list'], ['status']]) {
      expectFault(await runAdmin([...words, '--json'], unfit), 1, /of MIGRATION_DATABASE_URL does not own the tables/);
    }
  });

  it.each([
    ['a time that is none', 'list --since yesterday', /A time is written/],
    ['a limit that is none', 'list --limit 0', /A limit is a whole number/],
    ['an asset that is no id', 'list --asset printer', /An asset id is a UUID/],
    ['two forms at once', 'list --json --ndjson', /give one of them/],
    ['an argument too many', 'verify acme', /too many arguments/],
  ])('refuses %s', async (_what, words, line) => {
    expectFault(await run(...words.split(' ')), 2, line);
  });
});
