import { Injectable } from '@nestjs/common';
import {
  type AssetId,
  type Expand,
  type HistoryEntry,
  type InputFault,
  type Page,
  type PageRequest,
  type ReadScope,
  type Tag,
  ValidationFailed,
  type WorkspaceId,
} from '#libs/kernel';
import type { ChangeAuthor } from '#libs/audit';
import { type Asset, AssetChangedMeanwhile, AssetNotFound, AssetNotWritable } from '../domain/asset';
import { type AssetFilter, SubKeyInconsistent, isConsistent } from '../domain/asset-filter';
import {
  type AssetPatch,
  type BulkUpdate,
  type BulkUpdateSummary,
  applyPatch,
  patchFieldsOf,
} from '../domain/asset-patch';
import { AssetRepository, type LockedAssets } from '../domain/asset-repository.port';

@Injectable()
export class AssetsService {
  constructor(private readonly assets: AssetRepository) {}

  /** @throws `validation_failed` when `subKey` does not belong to the category named with it */
  async list(scope: ReadScope, filter: AssetFilter, page: PageRequest, expand?: Expand): Promise<Page<Asset>> {
    if (!isConsistent(filter)) throw new SubKeyInconsistent();
    return this.assets.list(scope, filter, page, expand);
  }

  /**
   * Returns the function that reads a whole list page by page, always as it is now.
   * @throws `validation_failed` as {@link list} does
   */
  reader(workspaceId: WorkspaceId, filter: AssetFilter, expand?: Expand): (page: PageRequest) => Promise<Page<Asset>> {
    if (!isConsistent(filter)) throw new SubKeyInconsistent();
    return this.assets.reader(workspaceId, filter, expand);
  }

  /** @throws `not_found` */
  async get(scope: ReadScope, id: AssetId, expand?: Expand): Promise<Asset> {
    const asset = await this.assets.find(scope, id, expand);
    if (!asset) throw new AssetNotFound();
    return asset;
  }

  /** @throws `not_found` for an id of which no state was ever visible */
  async history(scope: ReadScope, id: AssetId, page: PageRequest): Promise<Page<HistoryEntry<Asset>>> {
    const found = await this.assets.history(scope, id, page);
    if (!found) throw new AssetNotFound();
    return found;
  }

  /**
   * Runs within a unit of work. `isExpected` tells whether the asset has the version that the client read.
   * @throws `validation_failed`, `not_found`, `resource_not_writable` and `precondition_failed`, checked in this order
   */
  async update(
    workspaceId: WorkspaceId,
    id: AssetId,
    patch: AssetPatch,
    isExpected: (version: number) => boolean,
    author: ChangeAuthor,
  ): Promise<Asset> {
    const locked = await this.assets.lock(workspaceId, [id], patch);
    const wanted = wantedTags(patch, locked, '');
    const [asset] = locked.assets;
    if (!asset) throw new AssetNotFound();
    assertWritable([asset]);
    if (!isExpected(asset.version)) throw new AssetChangedMeanwhile();
    const patched = applyPatch(asset, patch, wanted, locked.lockedAt);
    await this.assets.update(workspaceId, patch, [patched], author);
    return patched.asset;
  }

  /**
   * Runs within a unit of work, all or nothing. Ids without an asset are counted as failed. A dry run makes the same checks
   * and writes nothing.
   * @throws `validation_failed`, and `resource_not_writable` when one of the assets is an employee
   */
  async updateMany(
    workspaceId: WorkspaceId,
    { ids: sent, patch, isDryRun }: BulkUpdate,
    author: ChangeAuthor,
  ): Promise<BulkUpdateSummary> {
    const ids = [...new Set(sent)];
    const locked = await this.assets.lock(workspaceId, ids, patch);
    const wanted = wantedTags(patch, locked, '/patch');
    assertWritable(locked.assets, sent);
    const patched = locked.assets.map((asset) => applyPatch(asset, patch, wanted, locked.lockedAt));
    if (!isDryRun) await this.assets.update(workspaceId, patch, patched, author);
    const found = new Set(patched.map(({ asset }) => asset.id));
    const changes = patched.flatMap(({ change }) => change ?? []);
    return {
      updated: found.size,
      notFound: ids.filter((id) => !found.has(id)),
      changes: isDryRun ? changes.map((change) => ({ id: change.assetId, fields: patchFieldsOf(change) })) : null,
    };
  }
}

/** Returns the tags for the patch's keys. @throws `validation_failed` for an owner or keys that cannot be set */
function wantedTags(patch: AssetPatch, { ownerIsEmployee, tagKeys }: LockedAssets, pointer: string): Tag[] {
  const faults: InputFault[] = [];
  if (!ownerIsEmployee) {
    const detail = 'ownerId is not a visible employee of the workspace.';
    faults.push({ pointer: `${pointer}/ownerId`, code: 'unknown', detail });
  }
  const tags = new Map<string, Tag>();
  for (const [index, key] of (patch.tags ?? []).entries()) {
    const tagKey = tagKeys.find((one) => one.key === key);
    const at = `${pointer}/tags/${index}/key`;
    if (!tagKey) faults.push({ pointer: at, code: 'unknown', detail: 'The workspace has no such tag key.' });
    else if (tagKey.platform)
      faults.push({ pointer: at, code: 'readonly', detail: 'The platform manages this tag key.' });
    else tags.set(key, { key, value: tagKey.value ?? '', readOnly: false });
  }
  if (faults.length > 0) throw new ValidationFailed(faults);
  return [...tags.values()];
}

/** `sent`: the ids of a bulk update, whose places are told. */
function assertWritable(assets: readonly Asset[], sent: readonly AssetId[] = []): void {
  const employees = assets.filter(({ type }) => type === 'EMPLOYEE').map(({ id }) => id);
  if (employees.length === 0) return;
  const detail = 'Employees cannot be updated.';
  const faults = sent.flatMap((id, place) =>
    employees.includes(id) ? [{ pointer: `/ids/${place}`, code: 'readonly', detail }] : [],
  );
  throw new AssetNotWritable(employees, faults);
}
