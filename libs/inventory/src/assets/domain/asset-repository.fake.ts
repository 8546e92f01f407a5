import { type AssetId, type Page, type PageRequest, type WorkspaceId, toPage } from '#libs/kernel';
import type { Asset } from './asset';
import { categoryOf } from './asset-category';
import { type AssetFilter, EXACT_FILTERS } from './asset-filter';
import type { AssetPatch, PatchedAsset } from './asset-patch';
import { AssetRepository, type LockedAssets } from './asset-repository.port';
import type { TagKey } from '../../tag-keys/domain/tag-key';

/** A reference implementation: assets in an array, filters as the specification words them. */
export class AssetRepositoryFake extends AssetRepository {
  private readonly assets: { readonly workspaceId: WorkspaceId; asset: Asset }[] = [];
  private readonly tagKeys: { readonly workspaceId: WorkspaceId; readonly tagKey: Omit<TagKey, 'createdAt'> }[] = [];

  /** Assets are listed in the order of adding. */
  add(workspaceId: WorkspaceId, asset: Asset): void {
    this.assets.push({ workspaceId, asset });
  }

  addTagKey(workspaceId: WorkspaceId, tagKey: Omit<TagKey, 'createdAt'>): void {
    this.tagKeys.push({ workspaceId, tagKey });
  }

  override list(workspaceId: WorkspaceId, filter: AssetFilter, page: PageRequest): Promise<Page<Asset>> {
    const matching = this.assets
      .map((entry, index) => ({ ...entry, position: String(index) }))
      .filter((entry) => entry.workspaceId === workspaceId && matches(entry.asset, filter));
    const after = page.after === null ? -1 : Number(page.after);
    const rest = matching.filter((entry) => Number(entry.position) > after);
    const { items, ...place } = toPage(rest, page.size, matching.length, ({ position }) => position);
    return Promise.resolve({ items: items.map(({ asset }) => asset), ...place });
  }

  override lock(workspaceId: WorkspaceId, ids: readonly AssetId[], patch: AssetPatch): Promise<LockedAssets> {
    const own = this.assets.filter((entry) => entry.workspaceId === workspaceId).map(({ asset }) => asset);
    const owner = patch.ownerId ? own.find(({ id }) => id === patch.ownerId) : null;
    return Promise.resolve({
      assets: own.filter(({ id }) => ids.includes(id)),
      ownerIsEmployee: !patch.ownerId || owner?.type === 'EMPLOYEE',
      tagKeys: this.tagKeys
        .filter((entry) => entry.workspaceId === workspaceId && patch.tags?.includes(entry.tagKey.key))
        .map(({ tagKey }) => tagKey),
      lockedAt: new Date(),
      auditAnchor: null,
    });
  }

  override update(workspaceId: WorkspaceId, _patch: AssetPatch, patched: readonly PatchedAsset[]): Promise<void> {
    for (const { asset } of patched) {
      const entry = this.assets.find((one) => one.workspaceId === workspaceId && one.asset.id === asset.id);
      if (entry) entry.asset = asset;
    }
    return Promise.resolve();
  }

  override find(workspaceId: WorkspaceId, id: AssetId): Promise<Asset | null> {
    const found = this.assets.find((entry) => entry.workspaceId === workspaceId && entry.asset.id === id);
    return Promise.resolve(found?.asset ?? null);
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
  return EXACT_FILTERS.every((name) => name === 'tagKey' || filter[name] === undefined || asset[name] === filter[name]);
}
