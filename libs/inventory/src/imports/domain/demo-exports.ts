import { DEMO_SOURCE, type DemoRecord, type DemoSize, demoInventory } from './demo-inventory';
import { CLOUD_RESOURCES } from './demo-words';

/** A part of the export of a tool of the demo's company, or of the records that no tool has. */
export interface DemoExport {
  readonly source: string;
  /** Turns the items into records. Null: the items are records. */
  readonly map: string | null;
  readonly items: Iterable<DemoRecord>;
}

interface DemoItem {
  readonly item: DemoRecord;
  readonly hasOwner: boolean;
}

/**
 * The sources of the demo in their order: owners come before what they own. So many items of each come first, so that the
 * first page of a list shows every category.
 */
const TOOLS = {
  'demo-okta': { map: 'okta-users', first: 5 },
  'demo-jamf': { map: 'jamf-computers', first: 2 },
  'demo-intune': { map: 'intune-devices', first: 2 },
  'demo-aws': { map: 'aws-config', first: 2 },
  'demo-azure': { map: 'azure-resource-graph', first: 2 },
  [DEMO_SOURCE]: { map: null, first: 12 },
} as const;
type Source = keyof typeof TOOLS;

export const DEMO_SOURCES = Object.keys(TOOLS);

const AZURE_REGIONS: readonly unknown[] = ['westeurope', 'northeurope', 'eastus2'];
const AWS_REGION = /^(?:eu|us|ap|sa)-\w+-\d$/;

/** A small demo as its tools export it. Removed assets are in no export. A large one is of one source. */
export function demoExports(size: DemoSize): DemoExport[] {
  if (size === 'L' || size === 'XL') return [{ source: DEMO_SOURCE, map: null, items: demoInventory(size) }];
  const items = new Map<string, DemoItem[]>(DEMO_SOURCES.map((source) => [source, []]));
  const emails = new Map<unknown, unknown>();
  for (const record of demoInventory(size)) {
    if (record['categoryKey'] === 'EMPLOYEE') emails.set(record['externalId'], record['email']);
  }
  for (const { owner, ...record } of demoInventory(size)) {
    const source = sourceOf(record);
    if (record['visibility'] !== undefined && source !== 'demo-okta') continue;
    const item = ITEMS[source](record, emails.get(owner));
    items.get(source)?.push({ item, hasOwner: owner !== undefined });
  }
  const parts = Object.entries(TOOLS).map(([source, { map, first }]) => {
    const all = items.get(source) ?? [];
    const early = all.filter(({ hasOwner }) => !hasOwner).slice(0, first);
    const late = all.filter((one) => !early.includes(one));
    return [early, late].map((part) => ({ source, map, items: part.map(({ item }) => item) }));
  });
  return [...parts.map(([early]) => early), ...parts.map(([, late]) => late)].filter((part) => part !== undefined);
}

function sourceOf({ categoryKey, operatingSystem, region }: DemoRecord): Source {
  if (categoryKey === 'EMPLOYEE') return 'demo-okta';
  if (operatingSystem === 'macOS') return 'demo-jamf';
  if (operatingSystem === 'Windows') return 'demo-intune';
  if (categoryKey !== 'CLOUD') return DEMO_SOURCE;
  if (AZURE_REGIONS.includes(region)) return 'demo-azure';
  return AWS_REGION.test(String(region)) ? 'demo-aws' : DEMO_SOURCE;
}

const ITEMS: Readonly<Record<Source, (record: DemoRecord, owner: unknown) => DemoRecord>> = {
  'demo-okta': ({ externalId, name, email, createdAt, visibility }) => ({
    id: `00u${String(externalId).replace('-', '')}`,
    status: visibility === undefined ? 'ACTIVE' : 'DEPROVISIONED',
    created: createdAt,
    profile: { displayName: name, email, login: email },
  }),
  'demo-jamf': (record, owner) => ({
    id: record['externalId'],
    general: {
      name: record['name'],
      jamfBinaryVersion: compliance(record)['agentVersion'],
      lastContactTime: record['lastCheckedAt'],
      initialEntryDate: String(record['createdAt']).slice(0, 10),
      remoteManagement: { managed: record['managed'] },
    },
    hardware: { serialNumber: record['serialNumber'] },
    operatingSystem: {
      name: record['operatingSystem'],
      version: record['osVersion'],
      fileVault2Status: FILE_VAULT.get(compliance(record)['diskEncryptionEnabled']) ?? 'NOT_APPLICABLE',
    },
    userAndLocation: { email: owner },
  }),
  'demo-intune': (record, owner) => ({
    id: record['externalId'],
    deviceName: record['name'],
    serialNumber: record['serialNumber'],
    operatingSystem: record['operatingSystem'],
    osVersion: record['osVersion'],
    enrolledDateTime: record['createdAt'],
    lastSyncDateTime: record['lastCheckedAt'] ?? '0001-01-01T00:00:00Z',
    managementAgent: record['managed'] === false ? 'msSense' : 'mdm',
    userPrincipalName: owner,
    isEncrypted: compliance(record)['diskEncryptionEnabled'] ?? false,
  }),
  'demo-aws': (record, owner) => ({
    configurationItemStatus: 'OK',
    configurationItemCaptureTime: record['lastCheckedAt'],
    awsAccountId: record['accountId'],
    awsRegion: record['region'],
    ARN: record['externalId'],
    resourceType: cloudOf(record)?.aws,
    resourceId: record['name'],
    resourceCreationTime: record['createdAt'],
    tags: tagsOf(record, owner),
  }),
  'demo-azure': (record, owner) => {
    const type = cloudOf(record)?.azure;
    const subscriptionId = `0d000000-0000-4000-8000-${String(record['accountId'])}`;
    return {
      id: `/subscriptions/${subscriptionId}/resourceGroups/main/providers/${type}/${String(record['name'])}`,
      name: record['name'],
      type,
      location: record['region'],
      subscriptionId,
      systemData: { createdAt: record['createdAt'], lastModifiedAt: record['lastCheckedAt'] },
      tags: tagsOf(record, owner),
    };
  },
  [DEMO_SOURCE]: (record, owner) => ({ ...record, ownerEmail: owner }),
};

const cloudOf = (record: DemoRecord) => CLOUD_RESOURCES.find(({ type }) => type === record['type']);

const FILE_VAULT = new Map<unknown, string>([
  [true, 'ALL_ENCRYPTED'],
  [false, 'NOT_ENCRYPTED'],
]);

const compliance = (record: DemoRecord): DemoRecord => (record['compliance'] ?? {}) as DemoRecord;

function tagsOf({ tags, classification, description }: DemoRecord, owner: unknown): DemoRecord {
  const own: readonly (readonly [string, string])[] = (
    tags as readonly { readonly key: string; readonly value?: string }[]
  ).map(({ key, value = '' }) => [key, value]);
  return { Owner: owner, Classification: classification, Description: description, ...Object.fromEntries(own) };
}
