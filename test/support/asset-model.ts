import { randomUUID } from 'node:crypto';
import { type Page, type PageRequest, assetId, toPage } from '#libs/kernel';
import { type Asset, CLASSIFICATIONS } from '../../libs/inventory/src/assets/domain/asset';
import {
  ASSET_TYPES,
  CATEGORY_KEYS,
  SUB_KEYS,
  categoryOf,
} from '../../libs/inventory/src/assets/domain/asset-category';
import { type AssetFilter, FACETS } from '../../libs/inventory/src/assets/domain/asset-filter';

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

/** An employee who left, and owns some assets. */
export const HIDDEN_EMPLOYEE = assetId(randomUUID());

const SOURCES = ['contract', 'other source'] as const;
/** 256 characters of four bytes each. */
const LONGEST_NAME = '🖨'.repeat(256);

/** The second key has 1,000 characters of four bytes each. */
export const TAGS = ['env', '🏷'.repeat(1_000)].map((key) => ({ key, value: 'v', readOnly: false }));

/** One asset of every type in every facet, owners first, so that every filter has a match. */
export function assetsOfEveryKind(): Asset[] {
  const owners = OWNERS.slice(0, 2).map((id) => anAssetValue({ id, type: 'EMPLOYEE', name: 'Owner' }));
  const kinds = ASSET_TYPES.flatMap((type, index) =>
    FACETS.map(({ classification, hasOwner, hasDescription }, place) => {
      const ownerId = index % 4 === 3 && hasDescription ? OWNERS[1] : index % 5 === 2 ? HIDDEN_EMPLOYEE : OWNERS[0];
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

/** Every combination of the five filters by facet, absent ones included. */
export function everyFilter(): AssetFilter[] {
  const filters: AssetFilter[] = [];
  for (const categoryKey of orAbsent(CATEGORY_KEYS))
    for (const subKey of orAbsent(SUB_KEYS))
      for (const hasOwner of orAbsent([true, false]))
        for (const hasDescription of orAbsent([true, false]))
          for (const classification of orAbsent(CLASSIFICATIONS)) {
            const filter = { categoryKey, subKey, hasOwner, hasDescription, classification };
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
  ids: [OWNERS.slice(0, 1), [...OWNERS]],
  ownerId: OWNERS,
  ownerVisible: [true, false],
  tagKey: [...TAGS.map(({ key }) => key), 'nothing'],
  externalId: ['CUSTOM 1', 'INFORMATION 3', 'nothing'],
  source: [...SOURCES, 'nothing'],
  serialNumber: ['C02', 'c02'],
  email: ['ada@example.com', 'ADA@Example.com', 'nothing'],
  name: ['Badge printer', LONGEST_NAME, 'badge printer'],
};

const NAMES = Object.keys(VALUES) as (keyof AssetFilter)[];

/** Every filter with each of its values, every pair, and a random sample of longer combinations. */
export function combinedFilters(): AssetFilter[] {
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

/** Lists of assets in the order of adding, with filters as the specification words them. */
export class AssetModel {
  constructor(private readonly assets: readonly Asset[]) {}

  list(filter: AssetFilter, { size, after }: PageRequest): Page<Asset> {
    const matching = this.assets.filter((asset) => matches(asset, filter));
    const start = matching.findIndex(({ id }) => id === after) + 1;
    return toPage(matching.slice(start), size, matching.length, ({ id }) => id);
  }
}

function matches(asset: Asset, filter: AssetFilter): boolean {
  const category = categoryOf(asset.type);
  if (filter.categoryKey !== undefined && category !== filter.categoryKey) return false;
  if (filter.subKey === 'CLOUD' && category !== 'CLOUD') return false;
  if (filter.subKey !== undefined && filter.subKey !== 'CLOUD' && asset.type !== filter.subKey) return false;
  if (filter.categoryKeyAnyOf?.includes(category) === false) return false;
  if (filter.subKeyAnyOf && !filter.subKeyAnyOf.some((one) => one === asset.type || one === category)) return false;
  if (filter.classificationAnyOf?.includes(asset.classification) === false) return false;
  if (filter.hasOwner !== undefined && (asset.ownerId !== null) !== filter.hasOwner) return false;
  if (filter.hasDescription !== undefined && (asset.description !== null) !== filter.hasDescription) return false;
  if (filter.classification !== undefined && asset.classification !== filter.classification) return false;
  if (filter.completeStatus === 'COMPLETE' && asset.ownerId === null) return false;
  if (filter.completeStatus === 'INCOMPLETE' && asset.ownerId !== null) return false;
  if (filter.serialNumber !== undefined && asset.type !== 'COMPUTER') return false;
  if (filter.email !== undefined && asset.type !== 'EMPLOYEE') return false;
  if (filter.tagKey !== undefined && !asset.tags.some(({ key }) => key === filter.tagKey)) return false;
  if (filter.ids?.includes(asset.id) === false) return false;
  if (filter.email !== undefined && asset.email?.toLowerCase() !== filter.email.toLowerCase()) return false;
  if (filter.ownerVisible !== undefined) {
    if (asset.ownerId === null || (asset.ownerId !== HIDDEN_EMPLOYEE) !== filter.ownerVisible) return false;
  }
  const equal = ['ownerId', 'externalId', 'source', 'serialNumber', 'name'] as const;
  return equal.every((name) => filter[name] === undefined || asset[name] === filter[name]);
}
