import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdminOn } from '../support/admin-command';
import { documentOf } from '../support/finished-command';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const SOURCES = join(__dirname, '../../docs/sources');
const EXAMPLES = join(SOURCES, 'examples');
const ADA = 'ada.okafor@example.com';

type Item = Record<string, unknown>;

interface Ready {
  /** The items of the example, which a test shortens. */
  readonly items: (document: never) => Item[];
  readonly records: number;
  readonly skipped: number;
  /** The external id of the device that Ada owns. */
  readonly ofAda?: string;
  /** An asset of which the tool does not know these columns. */
  readonly unknown: readonly [externalId: string, ...columns: string[]];
}

const list = (document: Item[]): Item[] => document;
const at =
  (...path: string[]) =>
  (document: Item): Item[] =>
    path.reduce<unknown>((found, name) => (found as Item)[name], document) as Item[];

const READY: Readonly<Record<string, Ready>> = {
  'fleet-hosts': {
    ...{ items: at('hosts'), records: 4, skipped: 0, ofAda: '101' },
    unknown: ['103', 'serial_number', 'last_checked_at', 'managed', 'disk_encryption_enabled', 'agent_version'],
  },
  'intune-devices': {
    ...{ items: at('value'), records: 6, skipped: 0, ofAda: '0a000000-0000-4000-8000-000000000201' },
    unknown: ['0a000000-0000-4000-8000-000000000202', 'serial_number', 'last_checked_at', 'disk_encryption_enabled'],
  },
  'jamf-computers': {
    ...{ items: at('results'), records: 4, skipped: 0, ofAda: '301' },
    unknown: ['302', 'last_checked_at', 'managed', 'disk_encryption_enabled', 'agent_version'],
  },
  'kandji-devices': {
    ...{ items: list, records: 4, skipped: 1, ofAda: '7e000000-0000-4000-8000-000000000401' },
    unknown: ['7e000000-0000-4000-8000-000000000402', 'last_checked_at', 'agent_version', 'disk_encryption_enabled'],
  },
  'google-chrome-os': {
    ...{ items: at('chromeosdevices'), records: 2, skipped: 1, ofAda: '8f000000-0000-4000-8000-000000000501' },
    unknown: ['8f000000-0000-4000-8000-000000000502', 'last_checked_at', 'os_version', 'disk_encryption_enabled'],
  },
  'crowdstrike-hosts': {
    ...{ items: at('resources'), records: 5, skipped: 0 },
    unknown: ['60200000000000000000000000000602', 'serial_number', 'antivirus_installed', 'disk_encryption_enabled'],
  },
  'okta-users': { items: list, records: 3, skipped: 1, unknown: ['00u3bot', 'last_checked_at'] },
  'entra-users': {
    ...{ items: at('value'), records: 2, skipped: 2 },
    unknown: ['0b000000-0000-4000-8000-000000000002', 'last_checked_at'],
  },
  'google-users': { items: at('users'), records: 2, skipped: 1, unknown: ['112233445566778899002', 'last_checked_at'] },
  'aws-ec2': {
    items: (document) => at('Reservations')(document).flatMap((reservation) => at('Instances')(reservation)),
    ...{ records: 2, skipped: 1, unknown: ['i-0a000000000000703', 'last_checked_at'] },
  },
  'aws-s3': {
    items: at('Buckets'),
    records: 4,
    skipped: 0,
    unknown: ['arn:aws:s3:::acme-old', 'region', 'account_id'],
  },
  'aws-rds': {
    ...{ items: at('DBInstances'), records: 2, skipped: 0 },
    unknown: ['arn:aws:rds:eu-west-1:123456789012:db:graph', 'last_checked_at'],
  },
  'aws-config': {
    ...{ items: at('configurationItems'), records: 4, skipped: 1 },
    unknown: ['arn:aws:lambda:eu-west-1:123456789012:function:resize', 'last_checked_at'],
  },
  'azure-resource-graph': {
    ...{ items: at('data'), records: 3, skipped: 0 },
    unknown: [
      '/subscriptions/0d000000-0000-4000-8000-000000000001/resourcegroups/web/providers/microsoft.network/publicipaddresses/web-ip',
      'last_checked_at',
    ],
  },
  'gcp-assets': {
    ...{ items: list, records: 6, skipped: 0 },
    unknown: [
      '//iam.googleapis.com/projects/acme-web/serviceAccounts/100000000000000000001',
      'region',
      'last_checked_at',
    ],
  },
  'snipe-it': {
    ...{ items: at('rows'), records: 4, skipped: 1, ofAda: '901' },
    unknown: ['903', 'serial_number', 'last_checked_at', 'managed', 'disk_encryption_enabled'],
  },
};

describe('The ready map', () => {
  let database: TestDatabase;
  let directory: string;
  const run = (...words: string[]) => runAdminOn(database, words);
  const importBy = async (map: string, file: string, ...words: string[]) => {
    const options = ['--workspace', 'acme', '--source', map, '--map', map, '--create-tag-keys', 'platform'];
    return documentOf(await run('import', ...options, '--json', file, ...words));
  };
  const exampleOf = (map: string): string =>
    join(EXAMPLES, readdirSync(EXAMPLES).find((file) => file.startsWith(`${map}.`)) ?? '');

  beforeAll(async () => {
    database = await createTestDatabase();
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    documentOf(await run('workspaces', 'create', 'acme', '--name', 'Acme', '--json'));
    const staff = join(directory, 'staff.ndjson');
    writeFileSync(
      staff,
      JSON.stringify({ categoryKey: 'EMPLOYEE', externalId: 'ada', name: 'Ada Okafor', email: ADA }),
    );
    documentOf(await run('import', '--workspace', 'acme', '--source', 'staff', '--json', staff));
  });
  afterAll(async () => {
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('has a page with the map itself, an example and a description', async () => {
    const { items } = documentOf(await run('maps', 'list', '--json')) as {
      items?: { name: string; description: string }[];
    };

    expect(items?.map(({ name }) => name)).toEqual(Object.keys(READY).sort());
    for (const { name, description } of items ?? []) {
      expect(readFileSync(join(SOURCES, `${name}.md`), 'utf8')).toContain(
        readFileSync(join(SOURCES, `${name}.yaml`), 'utf8'),
      );
      expect(description).toMatch(/\w/);
    }
  });

  it.each(Object.keys(READY))(
    '%s imports its example, changes nothing of what is there the second time, and hides what is gone',
    async (map) => {
      const { items, records, skipped, ofAda, unknown } = READY[map] as Ready;
      const example = exampleOf(map);

      const first = await importBy(map, example);

      expect(first).toMatchObject({ read: records, created: records, skipped, failed: 0 });
      const [externalId, ...columns] = unknown;
      const { rows } = await database.admin.query<Item>(
        `SELECT asset.*, c.managed, c.disk_encryption_enabled, c.antivirus_installed, c.agent_version, o.email AS owner_email
         FROM asset LEFT JOIN computer AS c ON c.workspace_id = asset.workspace_id AND asset_id = asset.id
         LEFT JOIN asset AS o ON o.workspace_id = asset.workspace_id AND o.public_id = asset.owner_id
        WHERE asset.source = $1`,
        [map],
      );
      const named = (id: string): Item | undefined => rows.find((row) => row['external_id'] === id);
      for (const column of columns) expect([column, named(externalId)?.[column]]).toEqual([column, null]);
      if (ofAda !== undefined) expect(named(ofAda)?.['owner_email']).toBe(ADA);

      const text = readFileSync(example, 'utf8');
      const isLines = example.endsWith('.ndjson');
      const document = JSON.parse(isLines ? `[${text.trim().split('\n').join(',')}]` : text) as never;
      items(document).splice(0, 1);
      // Instances of AWS are in lists of lists.
      if (map === 'aws-ec2') at('Reservations')(document).splice(0, 1);
      const shorter = join(directory, `${map}${isLines ? '.ndjson' : '.json'}`);
      writeFileSync(
        shorter,
        isLines
          ? items(document)
              .map((item) => JSON.stringify(item))
              .join('\n')
          : JSON.stringify(document),
      );
      expect(await importBy(map, shorter, '--missing', 'hide')).toMatchObject({
        unchanged: records - 1,
        hidden: 1,
        failed: 0,
      });
    },
  );

  it('google-chrome-os takes a page without devices, and refuses an error', async () => {
    const devices = readFileSync(exampleOf('google-chrome-os'), 'utf8');
    const pages = join(directory, 'pages.json');
    const tryWith = (page: object) => {
      writeFileSync(pages, devices + JSON.stringify(page));
      return run('maps', 'try', 'google-chrome-os', pages, '--json');
    };

    const empty = await tryWith({ kind: 'admin#directory#chromeosdevices', etag: '"e2"' });
    const refused = await tryWith({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } });

    expect(documentOf(empty)).toMatchObject({ skipped: 1, failed: 0 });
    expect(refused.exitCode).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      failed: 1,
      errors: [{ reason: 'items: The page has no chromeosdevices.' }],
    });
  });

  it('aws-config takes an IAM resource that two regions recorded', async () => {
    const snapshot = readFileSync(exampleOf('aws-config'), 'utf8');
    const other = join(directory, 'other-region.json');
    const { configurationItems } = JSON.parse(snapshot) as { configurationItems: Item[] };
    const role = configurationItems.find(({ resourceType }) => resourceType === 'AWS::IAM::Role');
    const again = { ...role, configurationItemCaptureTime: '2026-11-20T02:07:00.000Z' };
    writeFileSync(other, JSON.stringify({ configurationItems: [again] }));

    const report = await importBy('aws-config', exampleOf('aws-config'), other, '--dry-run');

    expect(report).toMatchObject({ failed: 0, warned: 1 });
  });
});
