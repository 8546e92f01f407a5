import { contentHash } from './content-hash';
import { MEMBER_PATHS, parseImportRecord } from './import-record';

const COMPUTER = {
  ...{ categoryKey: 'COMPUTER', externalId: 'a', id: '018f9c2e-7d2a-7c41-9a51-000000000001', name: 'ada' },
  ...{
    visibility: 'ACTIVE',
    classification: 'PUBLIC',
    description: 'd',
    ownerId: '018f9c2e-7d2a-7c41-9a51-000000000002',
  },
  ...{ owner: 'hr-1', tags: [{ key: 'k', value: 'v' }], createdAt: '2026-01-01T00:00:00Z', managed: true },
  ...{ lastCheckedAt: '2026-01-01T00:00:00Z', serialNumber: 's', operatingSystem: 'o', osVersion: 'v' },
  compliance: {
    ...{ agentVersion: '1', antivirusInstalled: true, diskEncryptionEnabled: true },
    ...{ passwordManagerInstalled: true, screenLockEnabled: true },
  },
};
const BUCKET = { categoryKey: 'CLOUD', type: 'CLOUD_QUEUE', externalId: 'a', name: 'b', accountId: 'x', region: 'y' };
const PERSON = { categoryKey: 'EMPLOYEE', externalId: 'a', name: 'b', email: 'c@d', ownerEmail: 'e@f' };
const DATASET = {
  ...{ categoryKey: 'INFORMATION', externalId: 'a', name: 'b' },
  dataStored: { containsPatientData: true, containsUserData: true, userDataInfo: 'i' },
};

function hashOf(value: object): number {
  const { record, reasons } = parseImportRecord(value);
  if (record === null) throw new Error(reasons.join(' '));
  return contentHash(record);
}

const OTHER: Readonly<Record<string, unknown>> = {
  type: 'CLOUD_OTHER',
  visibility: 'HIDDEN',
  classification: 'INTERNAL',
  id: '018f9c2e-7d2a-7c41-9a51-000000000003',
  ownerId: '018f9c2e-7d2a-7c41-9a51-000000000004',
  createdAt: '2026-01-01T00:00:00.001Z',
  lastCheckedAt: '2026-01-01T00:00:00.001Z',
  tags: [{ key: 'k' }],
};
const otherThan = (name: string, value: unknown): unknown =>
  OTHER[name] ?? (typeof value === 'boolean' ? !value : `${String(value)}x`);

describe('contentHash', () => {
  const cases = [COMPUTER, BUCKET, PERSON, DATASET].flatMap((record) =>
    Object.entries<unknown>(record).flatMap(([name, value]) => {
      if (name === 'categoryKey' || name === 'externalId') return [];
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return [[name, record, { ...record, [name]: otherThan(name, value) }] as const];
      }
      return Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([inner, content]) =>
        [otherThan(inner, content), null].map(
          (other) => [`${name}.${inner}`, record, { ...record, [name]: { ...value, [inner]: other } }] as const,
        ),
      );
    }),
  );

  it('is compared here with each member of a record and of what is made of it', () => {
    const { record } = parseImportRecord(COMPUTER) as { record: object };
    const pathsIn = (value: object): string[] =>
      Object.entries(value).flatMap(([name, content]: [string, object]) =>
        ['compliance', 'dataStored'].includes(name) ? Object.keys(content).map((inner) => `${name}.${inner}`) : [name],
      );
    const compared = new Set(cases.map(([name]) => name));

    for (const path of [...MEMBER_PATHS, ...pathsIn(record)]) {
      if (path !== 'categoryKey' && path !== 'externalId') expect(compared).toContain(path);
    }
  });

  it.each(cases)('differs with %s', (_, record, other) => {
    expect(hashOf(other)).not.toBe(hashOf(record));
  });

  it('differs with the key of a tag', () => {
    expect(hashOf({ ...COMPUTER, tags: [{ key: 'x', value: 'v' }] })).not.toBe(hashOf(COMPUTER));
  });

  it('is the same whether a member is null or absent, and in any order of the members', () => {
    const reversed = Object.fromEntries(Object.entries<unknown>(COMPUTER).reverse());

    expect(hashOf({ ...BUCKET, description: null, tags: null, owner: '' })).toBe(hashOf(BUCKET));
    expect(hashOf(reversed)).toBe(hashOf(COMPUTER));
  });

  it('differs with the values of several tags', () => {
    const texts = ['a', 'b', '1', '2', 'x', 'y', 'env', 'dev', 'prod', 'team'];
    const pairs = texts.flatMap((one) => texts.filter((other) => one < other).map((other) => [one, other] as const));
    const tagged = pairs.flatMap(([key, other]) =>
      texts.flatMap((value) =>
        texts.map((last) => ({
          ...BUCKET,
          tags: [
            { key, value },
            { key: other, value: last },
          ],
        })),
      ),
    );

    expect(new Set(tagged.map(hashOf)).size).toBe(tagged.length);
  });

  it('is the same in any order of the tags', () => {
    const [one, other] = [
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
    ];

    expect(hashOf({ ...BUCKET, tags: [one, other] })).toBe(hashOf({ ...BUCKET, tags: [other, one] }));
    expect(hashOf({ ...BUCKET, tags: [one, { ...other, value: '1' }] })).not.toBe(
      hashOf({ ...BUCKET, tags: [{ ...one, value: '2' }, other] }),
    );
  });

  it('does not move letters from one member to the next', () => {
    expect(hashOf({ ...BUCKET, accountId: 'xy', region: '' })).not.toBe(
      hashOf({ ...BUCKET, accountId: 'x', region: 'y' }),
    );
  });
});
