/**
 * @needs python3
 */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { examplesOf } from '../support/doc-examples';
import { noteOf } from '../support/audit-verifier';
import { demandProgram, searchPath } from '../support/programs.cjs';
import { type TestApp, startApp } from '../support/start-app';
import { until } from '../support/until';
import { signCheckpoint } from '../../libs/audit/src/system/checkpoint-signer.system';

const [program] = examplesOf('verify-the-audit.md').filter(({ name }) => name === 'verify');
const LONGEST_PROGRAM = 68;

describe("The auditor's program in the documentation", () => {
  let app: TestApp;
  let directory: string;
  let workspace: string;
  let token: string;
  let asset: string;
  beforeAll(async () => {
    demandProgram('python3');
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    asset = (await app.arrange.anAsset(workspace)).id;
    token = await app.arrange.aToken(workspace, ['all:read', 'inventory:write']);
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-audit-'));
    writeFileSync(join(directory, 'verify.py'), program?.code ?? '');
  });
  afterEach(() => rmSync(directory, { recursive: true }));
  afterAll(() => app.stop());

  /** Returns the output, or the complaint of a failure. */
  const verify = async (by = token, command = 'python3 verify.py'): Promise<string> => {
    const env = { PATH: searchPath(), BASE_URL: app.origin, TOKEN: by };
    return promisify(execFile)('sh', ['-c', command], { cwd: directory, env, timeout: 60_000 }).then(
      ({ stdout }) => stdout,
      ({ stderr }: { stderr: string }) => stderr,
    );
  };
  const record = async (descriptions: readonly string[]): Promise<void> => {
    const client = app.client(token);
    const { size } = await noteOf(client);
    for (const description of descriptions) await client.patch(`/v1/inventory/assets/${asset}`, { description });
    await until(async () => (await noteOf(client)).size === size + descriptions.length);
  };
  const report = (events: number, kept: number): string =>
    `${events} events fit the new checkpoint, ${kept} of them also the kept one.\n`;
  const tamper = (statement: string) => app.database.admin.query(statement, [workspace]);

  it(`is at most ${LONGEST_PROGRAM} lines long`, () => {
    expect(program?.code.trimEnd().split('\n').length).toBeLessThanOrEqual(LONGEST_PROGRAM);
  });

  it('proves an empty audit, then every event, whatever text it holds', async () => {
    expect(await verify()).toMatch(report(0, 0));
    expect(await verify()).toBe(report(0, 0));
    await record(['Zugriff “Süd” 🗝 \u2028 \\ "', 'tab\tand\nline', '\u007f￿𐀀', 'x'.repeat(500), '<&>', 'six', 'seven']);
    expect(await verify()).toBe(report(7, 0));
    await record(['eight']);
    expect(await verify()).toBe(report(8, 7));
  });

  it.each([
    ['edited', `UPDATE audit_event SET client_id = 'ci_x' WHERE workspace_id = $1 AND sequence = 3`, /were changed/],
    ['removed', 'DELETE FROM audit_event WHERE workspace_id = $1 AND sequence = 8', /were changed/],
  ])('fails when an event is %s', async (_what, statement, complaint) => {
    expect(await verify()).toMatch(/^8 events/);
    await tamper('CREATE TABLE kept AS SELECT * FROM audit_event WHERE workspace_id = $1');
    await tamper(statement);
    expect(await verify()).toMatch(complaint);
    await tamper('DELETE FROM audit_event WHERE workspace_id = $1');
    await app.database.admin.query('INSERT INTO audit_event SELECT * FROM kept');
    await app.database.admin.query('DROP TABLE kept');
  });

  it('waits after a 429, then continues', async () => {
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace, ['audit:read']);
    await app.database.admin.query('UPDATE application SET limits = $2 WHERE client_id = $1', [
      clientId,
      { read: '30/1' },
    ]);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const limited = String((await app.client().requestToken(form)).body['access_token']);
    const begun = Date.now();

    expect(await verify(limited)).toMatch(/^8 events/);

    expect(Date.now() - begun).toBeGreaterThan(1_000);
  });

  const keptFile = () => join(directory, 'kept.json');
  const keysKept = (): { kty: string; x?: string }[] =>
    (JSON.parse(readFileSync(keptFile(), 'utf8')) as { keys: { kty: string; x?: string }[] }).keys;

  let firstKept = '';
  /** Leaves what a first run keeps of the eight events. */
  const keep = async (): Promise<{ readonly keys: readonly unknown[]; readonly note: string }> => {
    if (firstKept === '') {
      await verify();
      firstKept = readFileSync(keptFile(), 'utf8');
    }
    writeFileSync(keptFile(), firstKept);
    return JSON.parse(firstKept) as { keys: unknown[]; note: string };
  };

  /** The audit as archived files. Another key than the API's may have signed its checkpoint. */
  const archive = async (note?: string): Promise<void> => {
    const client = app.client(token);
    const { results } = (await client.get<{ results: object[] }>('/v1/audit-events?pageSize=1000')).body;
    const lines = results.map((event) => `${JSON.stringify(event)}\n`);
    writeFileSync(join(directory, 'acme.ndjson'), lines.join(''));
    const checkpoint = note ?? (await client.get('/v1/audit-events/checkpoint')).text;
    writeFileSync(join(directory, 'acme.checkpoint'), checkpoint);
  };
  /** A key that is not in the key set, as one that leaked, and the audit's note signed with it. */
  const removedKey = async (): Promise<{ key: object; note: string }> => {
    const pair = generateKeyPairSync('ed25519');
    const { origin, size, root } = await noteOf(app.client(token));
    const note = signCheckpoint(origin, size, Buffer.from(root, 'base64').toString('hex'), pair);
    return { key: pair.publicKey.export({ format: 'jwk' }), note };
  };

  it('prints each checkpoint key that it did not keep yet, and no key of tokens', async () => {
    const first = await verify();
    const { x } = keysKept().find(({ kty }) => kty === 'OKP') ?? {};
    const again = await verify();
    const { key } = await removedKey();
    const kept = JSON.parse(readFileSync(keptFile(), 'utf8')) as object;
    writeFileSync(
      keptFile(),
      JSON.stringify({ ...kept, keys: [...keysKept().filter(({ kty }) => kty === 'OKP'), key] }),
    );
    const afterOthers = await verify();

    expect(first).toBe(`${report(8, 0)}New public key: ${x}\n`);
    expect([again, afterOthers]).toEqual([report(8, 8), report(8, 8)]);
  });

  it('accepts what it kept from a key that was removed since, and keeps the keys of today', async () => {
    await keep();
    const today = keysKept();
    const { key, note } = await removedKey();
    writeFileSync(keptFile(), JSON.stringify({ keys: [key], note }));

    expect(await verify()).toMatch(report(8, 8));

    expect(keysKept()).toEqual(today);
  });

  it('fails when a key that was removed since signs a new checkpoint', async () => {
    const { key, note } = await removedKey();
    writeFileSync(keptFile(), JSON.stringify({ keys: [key], note: null }));
    await archive(note);

    expect(await verify(token, 'unset TOKEN; python3 verify.py acme.ndjson')).toBe(
      'No known key signed the checkpoint.\n',
    );
  });

  it('proves an archive without the API, by a saved key set, wherever text is not UTF-8', async () => {
    await archive();
    const alone = 'unset TOKEN BASE_URL; LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0 python3 verify.py';
    const { text } = await app.client().get('/.well-known/jwks.json');
    writeFileSync(keptFile(), text);

    expect(await verify(token, `${alone} acme.ndjson`)).toBe(report(8, 0));
    expect(await verify(token, `${alone} acme.ndjson`)).toBe(report(8, 8));
    expect(await verify(token, alone)).toBe('Set TOKEN, or name archived files.\n');
  });

  it.each([
    ['— a', 'two words'],
    ['— api.example.test !!!', 'no base64'],
    ['- api.example.test AAAAAAAA', 'another dash'],
    ['— api.example.test AAAA', 'too few bytes'],
    ['— ORIGIN AAAAAAAA', 'too few bytes of its own'],
    ['', 'nothing'],
  ])('names the malformed signature line %j of a checkpoint: %s', async (line) => {
    const kept = await keep();
    const note = `${kept.note}${line.replace('ORIGIN', kept.note.split('\n')[0] ?? '')}\n`;
    writeFileSync(keptFile(), JSON.stringify({ ...kept, note }));

    expect(await verify(token, 'python3 verify.py 2>&1; echo $?')).toBe('Line 6 of the checkpoint is malformed.\n1\n');
  });

  it('ignores signatures of others beside its own', async () => {
    const kept = await keep();
    const other = `— witness.example ${Buffer.alloc(76, 7).toString('base64')}`;
    writeFileSync(keptFile(), JSON.stringify({ ...kept, note: `${kept.note}${other}\n` }));

    expect(await verify()).toMatch(/^8 events/);
  });

  it('keeps the old checkpoint when there is no room for the new one', async () => {
    await keep();
    const kept = readFileSync(keptFile(), 'utf8');

    expect(await verify(token, 'ulimit -f 0; python3 verify.py')).toMatch(/^OSError/m);

    expect(readFileSync(keptFile(), 'utf8')).toBe(kept);
  });

  it('fails when the checkpoint is that of another audit than the kept one', async () => {
    await keep();
    const other = await app.arrange.aWorkspace();

    expect(await verify(await app.arrange.aToken(other, ['audit:read']))).toMatch(/that of another audit/);

    expect(await verify()).toMatch(/^8 events/);
  });

  it('fails when another key than the kept one signs', async () => {
    await keep();
    const another = readFileSync(keptFile(), 'utf8').replace(
      /"x": "(.)/g,
      (_, first) => `"x": "${first === 'A' ? 'B' : 'A'}`,
    );
    writeFileSync(keptFile(), another);
    expect(await verify()).toMatch(/No known key/);
  });

  it('fails without the API when the files end before the kept checkpoint, and verifies them alone', async () => {
    const alone = 'unset TOKEN BASE_URL; python3 verify.py acme.ndjson';
    await archive();
    await record(['nine']);
    await verify();
    const failed = await verify(token, alone);
    writeFileSync(keptFile(), JSON.stringify({ keys: keysKept(), note: null }));
    const succeeded = await verify(token, alone);

    expect(failed).toBe('Events were changed, removed, added or moved.\n');
    expect(succeeded).toBe(report(8, 0));
  });
});
