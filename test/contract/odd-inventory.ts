import fc from 'fast-check';
import { workspaceId } from '#libs/kernel';
import { ASSET_TYPES, type AssetType, categoryOf } from '../../libs/inventory/src/assets/domain/asset-category';
import { CLASSIFICATIONS } from '../../libs/inventory/src/assets/domain/asset';
import { VISIBILITIES } from '../../libs/inventory/src/imports/domain/import-record';
import { operatorDataSource } from '../support/database-connection';
import { importsOn } from '../support/imports';
import type { TestDatabase } from '../support/test-database';
import { anyCharacter } from './any-character';

const SOURCE = 'odd';
/** Ends with one owner of each visibility: assets of an owner who left remain. */
const OWNERS = ['owner-0', 'owner-1', 'owner-2'];

/** Text that an import accepts: any storable code point, sometimes with the maximum length. */
const text = (maxLength: number, minLength = 0): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 12, arbitrary: fc.string({ unit: anyCharacter, minLength, maxLength: 20 }) },
      { weight: 6, arbitrary: fc.constantFrom('a', '‮evil', '👩‍👩‍👧‍👦', "'; --", '<b>', '\\', '"', ' ', 'é', 'e\u0301') },
      { weight: 1, arbitrary: fc.constantFrom('x', '🦉').map((one) => one.repeat(maxLength)) },
    )
    .map((any) => any.replaceAll('\0', '?'));
const unless = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value, { freq: 2 });
const time = fc.oneof(
  fc
    .date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
    .map((at) => at.toISOString()),
  fc.constantFrom(
    '9999-12-31T23:59:59.999999999Z',
    '0001-01-01T00:00:00Z',
    '2026-02-28T23:59:59.9999+14:00',
    '9999-12-31T23:59:59+14:00',
    '0001-01-01T00:00:00-14:00',
  ),
);

const OWN: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<unknown>>>>> = {
  CLOUD: { accountId: text(2000), region: text(2000) },
  COMPUTER: {
    serialNumber: text(2000),
    operatingSystem: text(2000),
    osVersion: text(2000),
    managed: unless(fc.boolean()),
    compliance: fc.record(
      {
        agentVersion: text(2000),
        antivirusInstalled: unless(fc.boolean()),
        diskEncryptionEnabled: unless(fc.boolean()),
        passwordManagerInstalled: unless(fc.boolean()),
        screenLockEnabled: unless(fc.boolean()),
      },
      { requiredKeys: [] },
    ),
  },
  CUSTOM: { dataStored: stored() },
  INFORMATION: { dataStored: stored() },
  EMPLOYEE: { email: text(2000) },
};

function stored(): fc.Arbitrary<unknown> {
  const members = {
    containsPatientData: unless(fc.boolean()),
    containsUserData: unless(fc.boolean()),
    userDataInfo: text(2000),
  };
  return fc.record(members, { requiredKeys: [] });
}

const recordOf = (type: AssetType): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(
    {
      categoryKey: fc.constant(categoryOf(type)),
      type: fc.constant(type),
      name: text(1000, 1).map((name) => name || '?'),
      visibility: fc.constantFrom(...VISIBILITIES, 'ACTIVE', 'ACTIVE'),
      classification: fc.constantFrom(...CLASSIFICATIONS),
      description: text(500),
      owner: fc.constantFrom(...OWNERS),
      tags: fc.array(
        fc.record({ key: text(1000, 1).map((key) => key || '?'), value: text(255) }, { requiredKeys: ['key'] }),
        { maxLength: 6 },
      ),
      createdAt: time,
      lastCheckedAt: time,
      ...OWN[categoryOf(type)],
    },
    { requiredKeys: ['categoryKey', 'type', 'name'] },
  );

/** Imports assets that reach every limit of the inventory, the same each time. */
export async function importOddInventory(database: TestDatabase, workspace: string, count: number): Promise<void> {
  const operator = await operatorDataSource(database, 2);
  try {
    const imports = importsOn(operator);
    const options = { source: SOURCE, files: [], dryRun: false, missing: 'keep', createTagKeys: 'platform' } as const;
    const load = async (records: readonly object[]): Promise<void> => {
      const lines = records.map((value, index) => ({ fileIndex: 0, line: index + 1, value }));
      const { failed, errors } = await imports.runLines(workspaceId(workspace), options, lines);
      if (failed > 0) throw new Error(JSON.stringify(errors.slice(0, 3)));
    };
    const any = fc.oneof(...ASSET_TYPES.map(recordOf));
    const assets = fc.sample(any, { numRuns: count, seed: 20_261_121 });
    const owners = OWNERS.map((externalId) => ({ categoryKey: 'EMPLOYEE', externalId, name: externalId }));
    await load([...owners, ...assets.map((one, index) => ({ externalId: `${index}`, ...one }))]);
    await load(owners.map((one, index) => ({ ...one, visibility: VISIBILITIES[index] })));
  } finally {
    await operator.destroy();
  }
}
