import { Injectable } from '@nestjs/common';
import { AssetsService, type SentPatch } from '#libs/inventory';
import { type AssetId, ValidationFailed, assetId, newestOf } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { SignedIn } from '../domain/signed-in';
import type { AssetFieldsDto } from './asset.dto';

/** Fields of an asset that a form can change, each by itself: an import keeps what was set. */
export const FIELDS = ['owner', 'description', 'classification', 'tags'] as const;
export type AssetField = (typeof FIELDS)[number];

/** Updates assets as the API does, by the person. */
@Injectable()
export class AssetChanges {
  constructor(
    private readonly database: Database,
    private readonly assets: AssetsService,
  ) {}

  /** @throws `validation_failed` for an owner or a tag that is not there, `not_found` and `resource_not_writable` */
  async update(me: SignedIn, id: AssetId, field: AssetField, fields: AssetFieldsDto, requestId: string): Promise<void> {
    const { workspaceId, personId } = me;
    const patch = await this.patchOf(me, field, fields);
    await this.database.unitOfWork({ workspaceId }, () =>
      this.assets.update(workspaceId, id, patch, () => true, { personId, requestId }),
    );
  }

  /** The same for all of these assets or none. Ids that are gone meanwhile are left out. */
  async updateMany(
    me: SignedIn,
    ids: readonly AssetId[],
    field: AssetField,
    fields: AssetFieldsDto,
    requestId: string,
  ): Promise<void> {
    const { workspaceId, personId } = me;
    const patch = await this.patchOf(me, field, fields);
    const updates = ids.map((id, place) => ({ id, idAt: ['ids', place], patch, patchAt: [] }));
    await this.database.unitOfWork({ workspaceId }, () =>
      this.assets.updateMany(workspaceId, { updates, onlyIf: {}, isDryRun: false }, { personId, requestId }),
    );
  }

  private async patchOf(me: SignedIn, field: AssetField, fields: AssetFieldsDto): Promise<SentPatch> {
    const { owner, description, classification, tags = '' } = fields;
    if (field === 'description') return { description: description ?? null };
    if (field === 'classification') return { classification: classification ?? null };
    const keys = tags.split('\n').map((key) => key.trim());
    if (field === 'tags') return { tags: [...new Set(keys.filter((key) => key !== ''))] };
    if (owner === undefined) return { ownerId: null };
    return owner.includes('@') ? { ownerEmail: owner } : { ownerId: await this.employeeNamed(me, owner) };
  }

  /** Two are enough to tell that the name is ambiguous. */
  private async employeeNamed({ workspaceId }: SignedIn, name: string): Promise<AssetId> {
    const filter = { categoryKey: 'EMPLOYEE', name } as const;
    const { items } = await this.assets.list(newestOf(workspaceId), filter, { size: 2, after: null });
    const [found, other] = items;
    if (found && !other) return assetId(found.id);
    const detail = found ? 'Several employees have this name. Write the e-mail address.' : 'No employee has this name.';
    throw new ValidationFailed([{ parameter: 'owner', code: 'unknown', detail }]);
  }
}
