import { readFileSync, readdirSync } from 'node:fs';
import { join, parse } from 'node:path';
import { RecordCheck } from '../../domain/record-check';
import { MapLibrary } from './map-library.system';

type Item = Readonly<Record<string, unknown>>;

const EXAMPLES = join(dirnameOfPackage(), 'docs', 'sources', 'examples');
/** Where the items of a document are; an absent one is a list, or lines. */
const ITEMS: Readonly<Record<string, (document: never) => unknown>> = {
  'aws-config': ({ configurationItems }) => configurationItems,
  'aws-ec2': ({ Reservations }) => (Reservations as { Instances: Item[] }[]).flatMap(({ Instances }) => Instances),
  'aws-rds': ({ DBInstances }) => DBInstances,
  'aws-s3': ({ Buckets }) => Buckets,
  'azure-resource-graph': ({ data }) => data,
  'crowdstrike-hosts': ({ resources }) => resources,
  'entra-users': ({ value }) => value,
  'fleet-hosts': ({ hosts }) => hosts,
  'google-chrome-os': ({ chromeosdevices }) => chromeosdevices,
  'google-users': ({ users }) => users,
  'intune-devices': ({ value }) => value,
  'jamf-computers': ({ results }) => results,
  'snipe-it': ({ rows }) => rows,
};
/** A tag has a key. */
const NEVER_NULL = /(^|\.)Key$/;
const NO_ID = 'externalId is required.';
const ADA = 'ada.okafor@example.com';

function dirnameOfPackage(): string {
  return join(require.resolve('#package'), '..');
}

function itemsOf(file: string): readonly Item[] {
  const text = readFileSync(join(EXAMPLES, file), 'utf8');
  const { name, ext } = parse(file);
  const document: unknown = JSON.parse(ext === '.ndjson' ? `[${text.trim().split('\n').join(',')}]` : text);
  return (ITEMS[name]?.(document as never) ?? document) as Item[];
}

/** Copies of a value in each of which another member is replaced, however deep it is. */
function* without(value: unknown, replacement: null | undefined, path = ''): Generator<[path: string, copy: unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, content] of Object.entries(value)) {
    const copied = (other: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
    const at = path === '' ? name : `${path}.${name}`;
    if (!Array.isArray(value)) yield [at, copied(replacement)];
    for (const [inner, copy] of without(content, replacement, at)) yield [inner, copied(copy)];
  }
}

describe.each(readdirSync(EXAMPLES))('The ready map of %s', (file) => {
  const map = new MapLibrary().load(parse(file).name);
  const reasonsOf = async (item: unknown): Promise<readonly string[]> => {
    const mapped = await map.mapped(item);
    if ('leftOut' in mapped) return [];
    return 'fault' in mapped ? [mapped.fault] : new RecordCheck().check(mapped.value, 0).reasons;
  };

  it.each([[null], [undefined]])('loses no record by a member that is %s', async (replacement) => {
    const lost: unknown[] = [];
    let tried = 0;
    for (const item of itemsOf(file)) {
      for (const [path, copy] of without(item, replacement)) {
        const reasons = NEVER_NULL.test(path) ? [] : await reasonsOf(copy);
        tried += 1;
        if (reasons.length > 0 && !reasons.includes(NO_ID)) lost.push([path, ...reasons]);
      }
    }

    expect(lost).toEqual([]);
    expect(tried).toBeGreaterThan(5);
  });
});

describe('A ready map', () => {
  const recordOf = async (name: string, id: string, file = `${name}.json`): Promise<unknown> => {
    const map = new MapLibrary().load(name);
    for (const item of itemsOf(file)) {
      const mapped = await map.mapped(item);
      if ('value' in mapped && mapped.value['externalId'] === id) return mapped.value;
    }
    return null;
  };

  it.each<[string, string, object]>([
    ['intune-devices', '0a000000-0000-4000-8000-000000000201', { ownerEmail: ADA }],
    ['intune-devices', '0a000000-0000-4000-8000-000000000205', { managed: false }],
    ['kandji-devices', '7e000000-0000-4000-8000-000000000405', { categoryKey: 'COMPUTER', operatingSystem: 'Windows' }],
    ['kandji-devices', '7e000000-0000-4000-8000-000000000405', { serialNumber: 'PF3XA405', managed: true }],
    ['snipe-it', '905', { name: `Ada's "Mac" <2> &amp; dock`, ownerEmail: "sean.o'neil@example.com" }],
    ['snipe-it', '905', { serialNumber: 'C02&905' }],
    ['aws-s3', 'arn:aws-us-gov:s3:::acme-gov', { name: 'acme-gov' }],
    ['aws-s3', 'arn:aws-cn:s3:::acme-cn', { name: 'acme-cn' }],
  ])('%s reads %s as %j', async (name, id, record) => {
    expect(await recordOf(name, id)).toMatchObject(record);
  });

  it.each([
    ['//bigquery.googleapis.com/projects/acme-web/datasets/sales', '2026-01-02T03:04:05.000Z'],
    ['//dns.googleapis.com/projects/acme-web/managedZones/42', '2026-01-02T03:04:05.123Z'],
    ['//run.googleapis.com/projects/acme-web/locations/europe-west1/services/web', '2026-01-02T03:04:05.123Z'],
  ])('gcp-assets knows when %s was made', async (id, createdAt) => {
    expect(await recordOf('gcp-assets', id, 'gcp-assets.ndjson')).toMatchObject({ createdAt });
  });

  const PASCAL = {
    ...{ id: undefined, name: undefined, Id: '0A01', DisplayName: 'Ada', Mail: ADA, AccountEnabled: true },
    ...{ DeviceName: 'ADA-X1', SerialNumber: 'PF3XA201', OperatingSystem: 'Windows', OSVersion: '10.0.26100' },
    ...{ CreatedDateTime: '2026-01-02T03:04:05Z', LastSyncDateTime: '2026-11-20T05:11:09Z', IsEncrypted: false },
    ...{ ManagementAgent: 'mdm', EmailAddress: '', UserPrincipalName: ADA },
  };
  const PROD = [{ key: 'env', value: 'prod' }];
  const MADE = '2026-01-02T03:04:05Z';
  const CHROME = { email: 'ada.private@example.net', source: 'google_chrome_profiles' };
  it.each<[string, object, object]>([
    ['fleet-hosts', { device_mapping: [CHROME, { email: ADA, source: 'mdm_idp_accounts' }] }, { ownerEmail: ADA }],
    ['fleet-hosts', { device_mapping: [CHROME] }, { ownerEmail: CHROME.email }],
    ['fleet-hosts', { end_users: [{ idp_username: ADA }], device_mapping: [CHROME] }, { ownerEmail: ADA }],
    ['fleet-hosts', { end_users: [{ idp_username: 'ada' }], device_mapping: [CHROME] }, { ownerEmail: CHROME.email }],
    [
      'entra-users',
      { id: null, objectId: '0B01', mail: '', userPrincipalName: ADA },
      { externalId: '0B01', email: ADA },
    ],
    ['entra-users', PASCAL, { externalId: '0A01', name: 'Ada', email: ADA, createdAt: '2026-01-02T03:04:05.000Z' }],
    [
      'intune-devices',
      PASCAL,
      { externalId: '0A01', name: 'ADA-X1', serialNumber: 'PF3XA201', osVersion: '10.0.26100' },
    ],
    ['intune-devices', PASCAL, { managed: true, ownerEmail: ADA, compliance: { diskEncryptionEnabled: false } }],
    ['google-users', { name: null, 'name.fullName': 'Ada Okafor' }, { name: 'Ada Okafor' }],
    ['jamf-computers', { userAndLocation: { username: ADA, email: '' } }, { ownerEmail: ADA }],
    [
      'fleet-hosts',
      { platform: 'windows', os_version: 'Windows 11 Pro 10.0.26100' },
      { osVersion: '11 Pro 10.0.26100' },
    ],
    ['fleet-hosts', { platform: 'ubuntu', os_version: 'Ubuntu 24.04.1 LTS' }, { osVersion: '24.04.1 LTS' }],
    ['fleet-hosts', { platform: 'chrome', os_version: 'ChromeOS 131.0' }, { osVersion: '131.0' }],
    ['fleet-hosts', { platform: 'rhel', os_version: 'Fedora Linux 41.0' }, { osVersion: 'Fedora Linux 41.0' }],
    ['crowdstrike-hosts', { device_id: '7', os_version: 'Windows Server 2022' }, { osVersion: 'Server 2022' }],
    ['crowdstrike-hosts', { device_id: '7', os_version: 'Sequoia (15)' }, { osVersion: 'Sequoia (15)' }],
    ['snipe-it', { assigned_to: { type: 'user', username: ADA, email: null } }, { ownerEmail: ADA }],
    ['snipe-it', { category: { name: 'Chromebooks' } }, { categoryKey: 'COMPUTER' }],
    ['intune-devices', { operatingSystem: 'visionOS' }, { categoryKey: 'CUSTOM' }],
    ['intune-devices', { operatingSystem: 'tvOS' }, { categoryKey: 'CUSTOM' }],
    ['intune-devices', { OperatingSystem: 'WindowsPhone' }, { categoryKey: 'CUSTOM' }],
    ['intune-devices', { operatingSystem: 'Windows Mobile' }, { categoryKey: 'CUSTOM' }],
    ['intune-devices', { operatingSystem: 'Windows' }, { categoryKey: 'COMPUTER' }],
    ['google-chrome-os', { annotatedUser: `Ada Okafor <${ADA}>` }, { ownerEmail: ADA }],
    ['azure-resource-graph', { properties: { timeCreated: MADE } }, { createdAt: '2026-01-02T03:04:05.000Z' }],
    ['azure-resource-graph', { createdTime: MADE }, { createdAt: '2026-01-02T03:04:05.000Z' }],
    ['azure-resource-graph', { properties: { createdAt: MADE } }, { createdAt: '2026-01-02T03:04:05.000Z' }],
    ['aws-config', { availibilityZone: 'us-west-2b' }, { region: 'us-west-2' }],
    ['azure-resource-graph', { id: '/Subscriptions/0D01/resourceGroups/web' }, { accountId: '0D01' }],
    ['azure-resource-graph', { type: 'Microsoft.DBforMySQL/servers' }, { type: 'CLOUD_RELATIONAL_DATABASE' }],
    ['aws-config', { availabilityZone: 'us-west-2b' }, { region: 'us-west-2' }],
    ['aws-config', { availabilityZone: 'Not Applicable', awsRegion: 'eu-west-1' }, { region: 'eu-west-1' }],
    ['gcp-assets', { assetType: 'storage.googleapis.com/Bucket' }, { type: 'CLOUD_STORAGE_BUCKET' }],
    ['gcp-assets', { project: 'projects/42', location: 'europe-west1-b' }, { accountId: '42', region: 'europe-west1' }],
    ['gcp-assets', { name: '//x/projects/p/zones/us-east1-c/disks/d', resource: { data: {} } }, { region: 'us-east1' }],
    ['gcp-assets', { name: '//x/projects/p/locations/eu/keyRings/k' }, { region: 'eu' }],
    ['gcp-assets', { createTime: MADE, labels: { env: 'prod' } }, { createdAt: '2026-01-02T03:04:05.000Z' }],
    ['gcp-assets', { labels: { env: 'prod' } }, { tags: PROD }],
    ['gcp-assets', { resource: { data: { settings: { userLabels: { env: 'prod' } } } } }, { tags: PROD }],
    ['gcp-assets', { resource: { data: { resourceLabels: { env: 'prod' } } } }, { tags: PROD }],
    [
      'gcp-assets',
      { resource: { parent: '//x/projects/42', data: { location: 'US-EAST1' } } },
      { accountId: '42', region: 'us-east1' },
    ],
  ])('%s reads of %j: %j', async (name, members, record) => {
    const ids = { id: '7', deviceId: '7', name: '//x/7', arn: 'arn:aws:ec2:us-west-2:1:volume/7', resourceId: '7' };
    expect(await new MapLibrary().load(name).mapped({ ...ids, ...members })).toMatchObject({ value: record });
  });

  it.each<[string, object, string]>([
    ['okta-users', { profile: { login: 'acme-ada' } }, 'email'],
    ['jamf-computers', { userAndLocation: { username: 'ada', email: null } }, 'ownerEmail'],
    ['snipe-it', { assigned_to: { type: 'user', username: 'ada', email: null } }, 'ownerEmail'],
    ['google-chrome-os', { annotatedUser: 'help desk' }, 'ownerEmail'],
    ['azure-resource-graph', { properties: { creationDate: 'Fri, 02 Jan 2026 03:04:05 GMT' } }, 'createdAt'],
  ])('%s does not know by %j: %s', async (name, members, unknown) => {
    const mapped = await new MapLibrary().load(name).mapped({ id: '7', deviceId: '7', name: '7', ...members });

    expect(mapped).toHaveProperty('value.name');
    expect(mapped).not.toHaveProperty(`value.${unknown}`);
  });

  it.each<[string, object, boolean]>([
    ['entra-users', { userPrincipalName: 'ada_example.com#EXT#@acme.example' }, true],
    ['entra-users', { userPrincipalName: 'ada_example.com#EXT#@acme.example', userType: 'Member' }, false],
    ['entra-users', { accountEnabled: 'False' }, true],
    ['entra-users', { AccountEnabled: false }, true],
    ['entra-users', { UserType: 'Guest' }, true],
    ['entra-users', { accountEnabled: 'True' }, false],
    ['google-users', { suspended: 'True' }, true],
    ['google-users', { archived: 'false', suspended: '' }, false],
    ['google-users', { deletionTime: '2026-01-02T03:04:05.000Z' }, true],
    ['kandji-devices', { is_removed: 'True' }, true],
    ['aws-config', { resourceId: 'AWS::EC2::Instance/i-7', resourceType: 'AWS::Config::ResourceCompliance' }, true],
    ['aws-config', { resourceId: 'i-7', resourceType: 'AWS::SSM::PatchCompliance' }, true],
    ['aws-config', { resourceId: 'i-7', resourceType: 'AWS::SSM::ManagedInstanceInventory' }, false],
    ['gcp-assets', { name: '//x/projects/7', resource: { data: { lifecycleState: 'DELETE_REQUESTED' } } }, true],
    ['gcp-assets', { name: '//x/projects/7', state: 'DELETE_REQUESTED' }, true],
    ['gcp-assets', { name: '//x/projects/7', state: 'ACTIVE' }, false],
    ['snipe-it', { deleted_at: { datetime: '2026-01-02 03:04:05', formatted: '2026-01-02 03:04' } }, true],
    ['snipe-it', { deleted_at: null }, false],
  ])('%s leaves %j out: %p', async (name, members, isLeftOut) => {
    const mapped = await new MapLibrary().load(name).mapped({ id: '7', device_id: '7', ...members });

    expect('leftOut' in mapped).toBe(isLeftOut);
    expect(mapped).not.toHaveProperty('fault');
  });

  const itemsBy = async (name: string, document: unknown): Promise<unknown> => {
    const { items } = new MapLibrary().load(name);
    const found = items && 'find' in items ? await items.find(document) : items;
    // A list of JSONata has members of its own.
    return Array.isArray(found) ? [...(found as unknown[])] : found;
  };
  const RESERVATIONS = { Reservations: [{ OwnerId: '123456789012', Instances: [{ InstanceId: 'i-1' }] }] };

  it('aws-ec2 gives an instance the account of its reservation', async () => {
    const [item] = (await itemsBy('aws-ec2', [RESERVATIONS, RESERVATIONS])) as unknown[];

    expect(await new MapLibrary().load('aws-ec2').mapped(item)).toMatchObject({
      value: { externalId: 'i-1', accountId: '123456789012' },
    });
  });

  it.each<[string, object, object]>([
    ['aws-ec2', RESERVATIONS, { InstanceId: 'i-2' }],
    ['google-chrome-os', { chromeosdevices: [{ deviceId: '8f1' }] }, { deviceId: '8f2' }],
    ['google-users', { users: [{ id: '1' }] }, { id: '2' }],
  ])('%s takes pages, lists of items and items, and no error among them', async (name, page, item) => {
    expect(await itemsBy(name, item)).toEqual(item);
    expect(await itemsBy(name, [item, item])).toEqual([item, item]);
    expect(await itemsBy(name, [page, item])).toMatchObject([expect.any(Object), item]);
    expect(await itemsBy(name, [])).toBeUndefined();
    for (const document of [{ error: 'expired' }, [page, { error: 'expired' }], [item, { error: 'expired' }]]) {
      await expect(itemsBy(name, document)).rejects.toThrow('has no');
    }
  });

  it.each([
    ['google-chrome-os', 'admin#directory#chromeosdevices'],
    ['google-users', 'admin#directory#users'],
  ])('%s takes a page from which Google leaves the list out', async (name, kind) => {
    expect(await itemsBy(name, { kind, etag: '"e2"' })).toBeUndefined();
  });

  it('intune-devices does not know whether an unknown agent manages a device', async () => {
    expect(await recordOf('intune-devices', '0a000000-0000-4000-8000-000000000206')).not.toHaveProperty('managed');
  });

  it('aws-config reads a resource that several regions record as one record', async () => {
    const map = new MapLibrary().load('aws-config');
    const role = itemsOf('aws-config.json').find(({ resourceType }) => resourceType === 'AWS::IAM::Role');
    const cluster = {
      ...{ ...role, ARN: 'arn:aws:rds::123456789012:global-cluster:orders', resourceType: 'AWS::RDS::GlobalCluster' },
      awsRegion: 'eu-west-1',
    };

    for (const item of [role, cluster]) {
      const again = { ...item, configurationItemCaptureTime: '2026-11-20T02:07:00.000Z' };
      expect(await map.mapped(item)).toHaveProperty('value');
      expect(await map.mapped({ ...again, ...(item === cluster && { awsRegion: 'us-east-1' }) })).toEqual(
        await map.mapped(item),
      );
    }
  });
});
