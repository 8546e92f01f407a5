import { randomUUID } from 'node:crypto';
import { type AssetId, type WorkspaceId, applicationId, assetId } from '#libs/kernel';
import type { Asset } from './asset';
import { CLASSIFICATIONS, COMPLETE_STATUSES } from './asset';
import { ASSET_TYPES, CATEGORY_KEYS, SUB_KEYS } from './asset-category';
import { type AssetFilter, FACETS, isConsistent } from './asset-filter';
import { type AssetPatch, applyPatch } from './asset-patch';
import type { AssetRepository, LockedAssets } from './asset-repository.port';
import { AssetRepositoryFake } from './asset-repository.fake';

/** Lets a test put assets into the tested store. */
export interface AssetRepositorySetting {
  readonly repository: AssetRepository;
  readonly workspaceId: WorkspaceId;
  readonly otherWorkspaceId: WorkspaceId;
  /** Adds visible assets in this order. */
  add(workspaceId: WorkspaceId, assets: readonly Asset[]): Promise<void>;
  addTagKey(workspaceId: WorkspaceId, tagKey: LockedAssets['tagKeys'][number]): Promise<void>;
  unitOfWork<Result>(workspaceId: WorkspaceId, work: () => Promise<Result>): Promise<Result>;
}

export function anAssetValue(change: Partial<Asset> = {}): Asset {
  return {
    id: assetId(randomUUID()),
    type: 'CUSTOM',
    name: 'Badge printer',
    classification: 'UNKNOWN',
    description: null,
    ownerId: null,
    ownerSource: null,
    externalId: randomUUID(),
    source: 'contract',
    createdAt: new Date('2026-01-02T03:04:05.678Z'),
    updatedAt: new Date('2026-01-03T03:04:05.678Z'),
    lastCheckedAt: null,
    tags: [],
    dataStored: null,
    accountId: null,
    region: null,
    serialNumber: null,
    operatingSystem: null,
    osVersion: null,
    email: null,
    version: 1,
    ...change,
  };
}

/** The first owns assets of every type, the second only of some, the third none. */
const OWNERS = [assetId(randomUUID()), assetId(randomUUID()), assetId(randomUUID())] as const;

const SOURCES = ['contract', 'other source'] as const;
/** 256 characters of four bytes each. */
const LONGEST_NAME = '🖨'.repeat(256);

/** The second key has 1,000 characters of four bytes each. */
const TAGS = ['env', '🏷'.repeat(1_000)].map((key) => ({ key, value: 'v', readOnly: false }));

/** One asset of every type in every facet, owners first, so that every filter has a match. */
export function assetsOfEveryKind(): Asset[] {
  const owners = OWNERS.slice(0, 2).map((id) => anAssetValue({ id, type: 'EMPLOYEE', name: 'Owner' }));
  const kinds = ASSET_TYPES.flatMap((type, index) =>
    FACETS.map(({ classification, hasOwner, hasDescription }, place) => {
      const ownerId = index % 4 === 3 && hasDescription ? OWNERS[1] : OWNERS[0];
      return anAssetValue({
        ...{ type, classification, description: hasDescription ? 'd' : null },
        ...(hasOwner ? { ownerId, ownerSource: 'INTEGRATION' } : {}),
        source: SOURCES[index % 3 === 0 ? 1 : 0],
        externalId: `${type === 'CUSTOM' ? 'INFORMATION' : type} ${place}`,
        name: index % 2 === 0 ? 'Badge printer' : LONGEST_NAME,
        // Assets of other types must not show theirs.
        serialNumber: place % 3 === 0 ? 'C02' : null,
        email: place % 3 === 0 ? 'ada@example.com' : null,
        tags: TAGS.filter((_, tag) => index % (tag + 2) === 0 && place % 4 !== tag),
      });
    }),
  );
  return [...owners, ...kinds];
}

const orAbsent = <Value>(values: readonly Value[]): (Value | undefined)[] => [undefined, ...values];

/** Every combination of the six filters, absent ones included. */
export function everyFilter(): AssetFilter[] {
  const filters: AssetFilter[] = [];
  for (const categoryKey of orAbsent(CATEGORY_KEYS))
    for (const subKey of orAbsent(SUB_KEYS))
      for (const hasOwner of orAbsent([true, false]))
        for (const hasDescription of orAbsent([true, false]))
          for (const classification of orAbsent(CLASSIFICATIONS))
            for (const completeStatus of orAbsent(COMPLETE_STATUSES)) {
              const filter = { categoryKey, subKey, hasOwner, hasDescription, classification, completeStatus };
              filters.push(
                Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as AssetFilter,
              );
            }
  return filters;
}

/** Values of each filter, to be combined with any other. */
const VALUES: { readonly [Name in keyof AssetFilter]-?: readonly Required<AssetFilter>[Name][] } = {
  categoryKey: ['CLOUD', 'COMPUTER'],
  subKey: ['CLOUD', 'CLOUD_QUEUE', 'CUSTOM'],
  hasOwner: [true, false],
  hasDescription: [true],
  classification: ['PUBLIC'],
  completeStatus: ['COMPLETE'],
  categoryKeyAnyOf: [
    ['CLOUD'],
    ['COMPUTER', 'CLOUD'],
    ['CLOUD', 'COMPUTER', 'CUSTOM', 'INFORMATION'],
    [...CATEGORY_KEYS],
  ],
  subKeyAnyOf: [['CLOUD'], ['CLOUD_QUEUE'], ['CLOUD', 'CLOUD_QUEUE', 'EMPLOYEE'], [...ASSET_TYPES.slice(1)]],
  classificationAnyOf: [['PUBLIC'], ['CONFIDENTIAL', 'UNKNOWN'], [...CLASSIFICATIONS]],
  ownerId: OWNERS,
  tagKey: [...TAGS.map(({ key }) => key), 'nothing'],
  externalId: ['CUSTOM 1', 'INFORMATION 3', 'nothing'],
  source: [...SOURCES, 'nothing'],
  serialNumber: ['C02', 'c02'],
  email: ['ada@example.com', 'nothing'],
  name: ['Badge printer', LONGEST_NAME, 'badge printer'],
};

const NAMES = Object.keys(VALUES) as (keyof AssetFilter)[];

/** Every filter with each of its values, every pair, and a random sample of longer combinations. */
function combinedFilters(): AssetFilter[] {
  const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value;
  const extended = (filter: AssetFilter, name: keyof AssetFilter): AssetFilter[] =>
    VALUES[name].map((value) => ({ ...filter, [name]: value }));
  const single = NAMES.flatMap((name) => extended({}, name));
  const pairs = NAMES.flatMap((name, index) =>
    NAMES.slice(index + 1).flatMap((other) => extended({}, name).flatMap((filter) => extended(filter, other))),
  );
  const longer = Array.from({ length: 600 }, () =>
    NAMES.filter(() => Math.random() < 0.4).reduce<AssetFilter>((filter, name) => oneOf(extended(filter, name)), {}),
  );
  return [...single, ...pairs, ...longer];
}

/** Tests every implementation of the port. */
export function assetRepositoryContract(arrange: () => Promise<AssetRepositorySetting>): void {
  let setting: AssetRepositorySetting;
  const model = new AssetRepositoryFake();
  const assets = assetsOfEveryKind();

  beforeAll(async () => {
    setting = await arrange();
    for (const workspaceId of [setting.workspaceId, setting.otherWorkspaceId]) {
      for (const { key, value } of TAGS) await setting.addTagKey(workspaceId, { key, value, platform: false });
    }
    await setting.add(setting.workspaceId, assets);
    await setting.add(setting.otherWorkspaceId, assetsOfEveryKind().slice(0, 40));
    for (const asset of assets) model.add(setting.workspaceId, asset);
  });

  const idsOf = (items: readonly { readonly id: AssetId }[]) => items.map(({ id }) => id);

  /** Walks all pages. */
  const expectSameAsModel = async (filters: readonly AssetFilter[]): Promise<void> => {
    for (const filter of filters) {
      for (let after = { found: null, expected: null } as Record<'found' | 'expected', string | null>; ;) {
        const expected = await model.list(setting.workspaceId, filter, { size: 100, after: after.expected });
        const found = await setting.repository.list(setting.workspaceId, filter, { size: 100, after: after.found });
        if (
          found.totalCount !== expected.totalCount ||
          (found.endPosition === null) !== (expected.endPosition === null) ||
          idsOf(found.items).join() !== idsOf(expected.items).join()
        ) {
          throw new Error(`${JSON.stringify(filter)}: ${found.totalCount} found, ${expected.totalCount} expected`);
        }
        after = { found: found.endPosition, expected: expected.endPosition };
        if (after.found === null) break;
      }
    }
  };

  it('returns the assets of the model in its order, with its total, for every combination of facets', async () => {
    const filters = everyFilter().filter(isConsistent);
    expect(filters.length).toBeGreaterThan(5000);
    await expectSameAsModel(filters);
  }, 60_000);

  it('returns the assets of the model for every filter, every pair and longer combinations', async () => {
    await expectSameAsModel(combinedFilters().filter(isConsistent));
  }, 60_000);

  it('returns every asset once with any page size', async () => {
    for (const size of [1, 7, 100]) {
      const seen: AssetId[] = [];
      for (let after: string | null = null; ;) {
        const page = await setting.repository.list(setting.workspaceId, {}, { size, after });
        seen.push(...idsOf(page.items));
        after = page.endPosition;
        if (after === null) break;
      }
      expect(seen).toEqual(idsOf(assets));
    }
  });

  it('finds an end exactly at the last item of a full page', async () => {
    const { totalCount } = await setting.repository.list(setting.workspaceId, {}, { size: 1, after: null });
    expect(totalCount).toBe(assets.length);
    const twoCustom = { subKey: 'CUSTOM', classification: 'PUBLIC', hasOwner: true } as const;
    const page = await setting.repository.list(setting.workspaceId, twoCustom, { size: 2, after: null });
    expect([page.items.length, page.endPosition, page.totalCount]).toEqual([2, null, 2]);
  });

  it('returns an asset as it was added, and none of another workspace', async () => {
    const asset = assets[17] as Asset;
    expect(await setting.repository.find(setting.workspaceId, asset.id)).toEqual(asset);
    expect(await setting.repository.find(setting.otherWorkspaceId, asset.id)).toBeNull();
    expect(await setting.repository.find(setting.workspaceId, assetId(randomUUID()))).toBeNull();
  });

  describe('for an update', () => {
    const author = {
      applicationId: applicationId(randomUUID()),
      ...{ clientId: 'ci', requestId: 'request', keyHash: 'hash' },
    };
    const [employee, custom] = [assets[0] as Asset, anAssetValue({ name: 'To be updated' })];
    const foreign = anAssetValue();
    const env = { key: 'stage', value: 'production', platform: false };
    const stack = { key: 'aws:stack', value: null, platform: true };
    const lock = (ids: readonly AssetId[], patch: AssetPatch): Promise<LockedAssets> =>
      setting.unitOfWork(setting.workspaceId, () => setting.repository.lock(setting.workspaceId, ids, patch));

    beforeAll(async () => {
      await setting.add(setting.workspaceId, [custom]);
      await setting.add(setting.otherWorkspaceId, [foreign]);
      await setting.addTagKey(setting.workspaceId, env);
      await setting.addTagKey(setting.workspaceId, stack);
      await setting.addTagKey(setting.otherWorkspaceId, { ...env, key: 'theirs' });
    });

    it('returns existing assets once each, and none of another workspace', async () => {
      const ids = [custom.id, employee.id, foreign.id, assetId(randomUUID())];
      const { assets: found, ownerIsEmployee, tagKeys } = await lock(ids, {});
      expect(new Set(idsOf(found))).toEqual(new Set([custom.id, employee.id]));
      expect([found.length, ownerIsEmployee, tagKeys]).toEqual([2, true, []]);
    });

    it('returns whether the owner is an employee of the workspace, and which tag keys exist', async () => {
      const owner = async (ownerId: AssetId | null) => (await lock([custom.id], { ownerId })).ownerIsEmployee;
      expect([await owner(employee.id), await owner(null)]).toEqual([true, true]);
      expect([await owner(custom.id), await owner(foreign.id), await owner(assetId(randomUUID()))]).toEqual([
        ...[false, false, false],
      ]);
      const { tagKeys } = await lock([custom.id], { tags: ['stage', 'aws:stack', 'theirs', 'nobody', 'stage'] });
      expect(tagKeys).toHaveLength(2);
      expect(tagKeys).toEqual(expect.arrayContaining([env, stack]));
    });

    it('stores what the patch changed', async () => {
      const patch = { ownerId: employee.id, description: 'd', classification: 'PUBLIC', tags: ['stage'] } as const;
      const now = new Date('2026-11-02T08:00:00.000Z');
      const patched = applyPatch(custom, patch, [{ key: 'stage', value: 'production', readOnly: false }], now);
      await setting.unitOfWork(setting.workspaceId, async () => {
        await setting.repository.lock(setting.workspaceId, [custom.id], patch);
        await setting.repository.update(setting.workspaceId, patch, [patched], author, null);
      });
      expect(await setting.repository.find(setting.workspaceId, custom.id)).toEqual({
        ...custom,
        ...{
          ownerId: employee.id,
          ownerSource: 'API',
          description: 'd',
          classification: 'PUBLIC',
          version: 2,
          updatedAt: now,
        },
        tags: [{ key: 'stage', value: 'production', readOnly: false }],
      });
    });
  });
}
