import { Injectable } from '@nestjs/common';
import {
  type AssetId,
  type Expand,
  type HistoryEntry,
  InputFaults,
  type Page,
  type PageRequest,
  type ReadScope,
  type ThenRequest,
  type WorkspaceId,
} from '#libs/kernel';
import type { ChangeAuthor } from '#libs/audit';
import { type Asset, AssetChangedMeanwhile, AssetNotFound, AssetNotWritable } from '../domain/asset';
import type { AssetFilter } from '../domain/asset-filter';
import { type PatchedAsset, type SentPatch, applyPatch, findNamed, patchFieldsOf } from '../domain/asset-patch';
import { AssetRepository, type FoundEmployees } from '../domain/asset-repository.port';
import {
  type BulkUpdate,
  type BulkUpdateSummary,
  type FailedUpdate,
  type SentUpdate,
  isMet,
} from '../domain/bulk-update';

@Injectable()
export class AssetsService {
  constructor(private readonly assets: AssetRepository) {}

  async list(scope: ReadScope, filter: AssetFilter, page: PageRequest, expand?: Expand): Promise<Page<Asset>> {
    return this.assets.list(scope, filter, page, expand);
  }

  /** Returns employees who have the text in their name or e-mail address, as {@link AssetRepository} says. */
  async employeesWith(scope: ReadScope, text: string, limit: number): Promise<FoundEmployees> {
    return this.assets.employeesWith(scope, text, limit);
  }

  /**
   * Returns the function that reads a whole list page by page, as {@link AssetRepository} says.
   * @throws `validation_failed` for an instant before the history or after now
   */
  async reader(
    workspaceId: WorkspaceId,
    filter: AssetFilter,
    request: Partial<ThenRequest>,
  ): Promise<(page: PageRequest) => Promise<Page<Asset>>> {
    return this.assets.reader(workspaceId, filter, request);
  }

  /** @throws `not_found` */
  async get(scope: ReadScope, id: AssetId, request: Partial<ThenRequest>): Promise<Asset> {
    const asset = await this.assets.find(scope, id, request);
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
    sent: SentPatch,
    isExpected: (version: number) => boolean,
    author: ChangeAuthor,
  ): Promise<Asset> {
    const locked = await this.assets.lock(workspaceId, [{ id, patch: sent }]);
    const faults = new InputFaults();
    const patch = findNamed(sent, locked, [], faults);
    faults.throwAny();
    const [asset] = locked.assets;
    if (!asset) throw new AssetNotFound();
    if (asset.type === 'EMPLOYEE') throw new AssetNotWritable([id]);
    if (!isExpected(asset.version)) throw new AssetChangedMeanwhile();
    const patched = applyPatch(asset, patch, locked.lockedAt, setBy(author));
    await this.assets.update(workspaceId, [patched], author);
    return patched.asset;
  }

  /**
   * Runs within a unit of work, all or nothing but for the failures of the summary. A dry run makes the same checks and
   * writes nothing.
   * @throws `validation_failed`, `payload_too_large`, and `resource_not_writable` when one of the assets is an employee
   */
  async updateMany(
    workspaceId: WorkspaceId,
    { updates, onlyIf, isDryRun }: BulkUpdate,
    author: ChangeAuthor,
  ): Promise<BulkUpdateSummary> {
    const wanted = new Map(updates.map((update) => [update.id, update]));
    const sent = new Map(updates.map(({ patch, patchAt }) => [patch, patchAt]));
    const locked = await this.assets.lock(workspaceId, [...wanted.values()]);
    const faults = new InputFaults();
    const patches = new Map([...sent].map(([patch, place]) => [patch, findNamed(patch, locked, place, faults)]));
    faults.throwAny();
    assertNoEmployee(locked.assets, updates);
    const found = new Map(locked.assets.map((asset) => [asset.id, asset]));
    const failures: FailedUpdate[] = [];
    const patched: PatchedAsset[] = [];
    for (const { id, patch, version } of wanted.values()) {
      const asset = found.get(id);
      const one = asset && applyPatch(asset, patches.get(patch) ?? {}, locked.lockedAt, setBy(author));
      if (!one) failures.push({ id, code: 'not_found' });
      else if (!isMet(onlyIf, asset) || (one.change !== null && (version ?? asset.version) !== asset.version))
        failures.push({ id, code: 'condition_failed' });
      else patched.push(one);
    }
    if (!isDryRun) await this.assets.update(workspaceId, patched, author);
    const changes = patched.flatMap(({ change }) => change ?? []);
    return {
      updated: patched.length,
      failures,
      changes: isDryRun ? changes.map((change) => ({ id: change.assetId, fields: patchFieldsOf(change) })) : null,
    };
  }
}

const setBy = (author: ChangeAuthor): 'MANUAL' | 'API' => ('personId' in author ? 'MANUAL' : 'API');

/** Names up to 100 places. A `validation_failed` names twenty. */
function assertNoEmployee(assets: readonly Asset[], updates: readonly SentUpdate[]): void {
  const employees = new Set(assets.filter(({ type }) => type === 'EMPLOYEE').map(({ id }) => id));
  if (employees.size === 0) return;
  const detail = 'Employees cannot be updated.';
  const faults = updates.flatMap(({ id, idAt }) =>
    employees.has(id) ? [{ pointer: `/${idAt.join('/')}`, code: 'readonly', detail }] : [],
  );
  throw new AssetNotWritable([...employees], faults);
}
