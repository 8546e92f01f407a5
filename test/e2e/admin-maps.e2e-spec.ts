import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runAdmin, runAdminOn } from '../support/admin-command';
import { documentOf, expectFault } from '../support/finished-command';
import { RunningCommand } from '../support/running-command';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const MAP = `
description: Our own
items: agents
category: 'kind = "phone" ? null : "COMPUTER"'
record:
  externalId: id
  name: $firstOf([name, id])
  serialNumber: $serial(serial)
  compliance.diskEncryptionEnabled: $number(level) > 1`;
const agents = (...items: object[]): string => JSON.stringify({ agents: items });
const [ADA, MEI, PHONE] = [
  { id: 'a', name: 'ada-mbp', serial: ' C02XK ', level: 2 },
  { id: 'm', serial: 'Default string' },
  { id: 'p', kind: 'phone' },
];

describe('Maps', () => {
  let database: TestDatabase;
  let directory: string;
  const run = (...words: string[]) => runAdminOn(database, words);
  const file = (name: string, content: string | Buffer): string => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const importAs = (source: string, ...words: string[]) =>
    run('import', '--workspace', 'acme', '--source', source, '--json', '--map', join(directory, 'ours.yaml'), ...words);

  beforeAll(async () => {
    database = await createTestDatabase();
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    documentOf(await run('workspaces', 'create', 'acme', '--name', 'Acme', '--json'));
    file('ours.yaml', MAP);
  });
  afterAll(async () => {
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  describe('admin import --map', () => {
    it('imports items as records, again without a change, and hides what is gone', async () => {
      const [both, one] = [file('both.json', agents(ADA, MEI, PHONE)), file('one.json.gz', gzipSync(agents(ADA)))];

      const dry = documentOf(await importAs('own', both, '--dry-run'));
      const first = documentOf(await importAs('own', both));
      const second = documentOf(await importAs('own', both));
      const third = documentOf(await importAs('own', one, '--missing', 'hide'));

      expect(dry).toMatchObject({ read: 2, skipped: 1, created: 2, failed: 0, dryRun: true });
      expect(first).toEqual({ ...dry, dryRun: false });
      expect(second).toMatchObject({ read: 2, skipped: 1, unchanged: 2, failed: 0 });
      expect(third).toMatchObject({ read: 1, skipped: 0, unchanged: 1, hidden: 1 });
      const { rows } = await database.admin.query(
        `SELECT external_id, name, serial_number, facet IS NOT NULL AS visible, disk_encryption_enabled
           FROM asset JOIN computer ON asset_id = asset.id WHERE source = 'own' ORDER BY 1`,
      );
      expect(rows).toEqual([
        { external_id: 'a', name: 'ada-mbp', serial_number: 'C02XK', visible: true, disk_encryption_enabled: true },
        { external_id: 'm', name: 'm', serial_number: null, visible: false, disk_encryption_enabled: null },
      ]);
    });

    it('keeps a bad item as it is, hides nothing that it names, and imports it again when it is mended', async () => {
      documentOf(await importAs('mend', file('good.json', agents(ADA, MEI))));
      const bad = file('bad.json', agents(ADA, { ...MEI, level: 'high' }));
      const errors = join(directory, 'errors.ndjson');

      const finished = await importAs('mend', bad, '--missing', 'hide', '--errors', errors);

      expect(finished.exitCode).toBe(1);
      expect(JSON.parse(finished.stdout)).toMatchObject({
        ...{ read: 2, unchanged: 1, hidden: 0, failed: 1 },
        errors: [
          {
            line: 2,
            reason: expect.stringMatching(/^record\.compliance\.diskEncryptionEnabled: (?!.*high)/) as string,
          },
        ],
      });
      const kept = JSON.parse(readFileSync(errors, 'utf8')) as { text: string };
      expect(JSON.parse(kept.text)).toEqual({ ...MEI, level: 'high' });

      writeFileSync(errors, JSON.stringify({ ...kept, text: kept.text.replace('"high"', '7') }));
      expect(documentOf(await importAs('mend', errors))).toMatchObject({ read: 1, updated: 1 });
    });

    it('reads lines, rows and several files by one map', async () => {
      file('plain.yaml', MAP.replace('items: agents', ''));
      const files = [file('lines.ndjson', JSON.stringify(ADA)), file('rows.csv', 'id,name\nm,mei\n')];
      const words = ['--workspace', 'acme', '--source', 'mixed', '--json', '--map', 'plain', '--maps', directory];

      expect(documentOf(await run('import', ...words, ...files))).toMatchObject({ read: 2, created: 2 });
    });

    it('exits with 2 for a faulty map and an unknown one, before anything is read or changed', async () => {
      const faulty = file('faulty.yaml', MAP.replace('items: agents', 'itmes: agents'));
      const words = ['import', '--workspace', 'acme', '--source', 'none', '/nowhere', '--map'];

      expectFault(await run(...words, faulty), 2, /faulty\.yaml:3: itmes is not a member of a map\./);
      rmSync(faulty);
      expectFault(await run(...words, 'nothing'), 2, /There is no map nothing\./);
      expectFault(await run(...words, 'okta-users', '--maps', '/nowhere'), 2, /\/nowhere is not a directory\./);
      expectFault(
        await run('import', '--workspace', 'acme', '--source', 'none', '/nowhere', '--format', 'json'),
        2,
        /needs a map/,
      );
    });

    it('keeps apart two ids that JavaScript would take for one', async () => {
      const ids = '{"agents":[{"id":9007199254740992},{"id":9007199254740993}]}';

      expect(documentOf(await importAs('large', file('ids.json', ids)))).toMatchObject({ created: 2, failed: 0 });
    });
  });

  describe('admin maps', () => {
    const runAlone = (...words: string[]) => runAdmin(words, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });

    it('lists and shows maps without a database', async () => {
      const { items } = documentOf(await runAlone('maps', 'list', '--json', '--maps', directory)) as {
        items?: unknown;
      };

      expect(items).toEqual(expect.arrayContaining([{ name: 'ours', description: 'Our own', category: null }]));
      expect(documentOf(await runAlone('maps', 'show', 'ours', '--maps', directory, '--json'))).toEqual({
        name: 'ours',
        yaml: MAP,
      });
      expect((await runAlone('maps', 'show', 'ours', '--maps', directory)).stdout).toBe(`${MAP}\n`);
    });

    it('tries a map on the whole input and shows the first records', async () => {
      const items = [ADA, MEI, PHONE, { id: 'x', level: 'high' }, { name: 'without id' }, ADA];
      const input = file('try.json', agents(...items));

      const finished = await runAlone('maps', 'try', join(directory, 'ours.yaml'), input, '--limit', '1', '--json');

      expect(finished.exitCode).toBe(1);
      expect(JSON.parse(finished.stdout)).toEqual({
        items: [
          {
            ...{ categoryKey: 'COMPUTER', externalId: 'a', name: 'ada-mbp', serialNumber: 'C02XK' },
            compliance: { diskEncryptionEnabled: true },
          },
        ],
        skipped: 1,
        failed: 2,
        errors: [
          { line: 4, reason: expect.stringMatching(/^record\.compliance\.diskEncryptionEnabled: /) as string },
          { line: 5, reason: 'externalId is required.' },
        ],
      });
    });

    describe('in a process with little memory', () => {
      const ENOUGH_FOR_NODE = 160;
      const tried = async (map: string, input: string) => {
        const words = ['maps', 'try', file('huge.yaml', map), file('huge.json', input), '--json'];
        const memory = { NODE_OPTIONS: `--max-old-space-size=${ENOUGH_FOR_NODE}` };
        const { exitCode, stdout, stderr } = await new RunningCommand('apps/admin/run.mjs', words, memory).finished;
        expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^error: [^\n]+\n$/)]);
        return JSON.parse(stdout) as { items: object[]; errors: { line: number; reason: string }[] };
      };
      afterEach(() => RunningCommand.killAll());

      it('tells which item fills the memory, and reads the others', async () => {
        const name =
          '|\n    ($long := $reduce([1..20], function($text, $n) { $text & $text }, "x"); ' +
          '$length($join($map([1..many], function($n) { $uppercase($long & $n) }))))';
        const input = agents({ id: 'a', many: 1 }, { id: 'm', many: 50_000 }, { id: 'x', many: 1 });

        const { items, errors } = await tried(MAP.replace('$firstOf([name, id])', name), input);

        expect(items).toHaveLength(2);
        expect(errors).toEqual([
          { line: 2, reason: expect.stringMatching(/^record\.name: .*needs more memory/) as string },
        ]);
      });

      it('tells that a document fills the memory', async () => {
        const input = `{"agents":[{"id":"a","tags":[${'{},'.repeat(3_000_000)}{}]}]}`;

        const { errors } = await tried(
          MAP.replace('items: agents', "items: '$filter(agents, function() { true })'"),
          input,
        );

        expect(errors).toEqual([
          { line: 1, reason: expect.stringMatching(/^The document needs more memory/) as string },
        ]);
      });
    });

    it('names what no item gives, as a misspelled name does', async () => {
      const tried = async (map: string) =>
        (await runAlone('maps', 'try', file('misspelled.yaml', map), file('try.json', agents(ADA, MEI)))).stdout;

      expect(await tried(MAP)).not.toContain('No record has');
      expect(await tried(MAP.replace('$serial(serial)', 'seria-l').replace('level', 'lvl'))).toContain(
        'No record has serialNumber, compliance.diskEncryptionEnabled: look at their expressions.',
      );
      expect(await tried(MAP.replace('kind = "phone" ? null : "COMPUTER"', 'COMPUTR'))).toContain(
        '2 skipped, 0 failed\nThe category of the map leaves every item out.',
      );
    });
  });
});
