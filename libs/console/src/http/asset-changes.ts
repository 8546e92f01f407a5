import { Injectable } from '@nestjs/common';
import { AssetsService, MOST_SEARCHED, type SentPatch } from '#libs/inventory';
import { type AssetId, DomainError, ValidationFailed, assetId, newestOf } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { SignedIn } from '../domain/signed-in';
import type { AssetFieldsDto } from './asset.dto';
import { AnotherResponse, sendPage } from './page';

/** Fields of an asset that a form can change, each by itself: an import keeps what was set. */
export const FIELDS = ['owner', 'description', 'classification', 'tags'] as const;
export type AssetField = (typeof FIELDS)[number];

const OUTDATED =
  'The asset was changed since you opened this page, which shows it as it is now. Look, then send again.';
/** Employees of whom the person has to choose one. */
const SHOWN = 20;

/** Updates assets as the API does, by the person. */
@Injectable()
export class AssetChanges {
  constructor(
    private readonly database: Database,
    private readonly assets: AssetsService,
  ) {}

  /**
   * Updates all of these assets or none, without those that are gone meanwhile. Returns how many it updated.
   * @throws `validation_failed` for an owner or a tag that is not there, `resource_not_writable`, `precondition_failed` for an
   * asset with another version than the form, and {@link AnotherResponse} with the employees of whom the person has to
   * choose one
   */
  async update(me: SignedIn, ids: readonly AssetId[], field: AssetField, fields: AssetFieldsDto): Promise<number> {
    const { workspaceId, personId, requestId } = me;
    const patch = field === 'owner' ? { ownerId: await this.ownerOf(me, ids, fields) } : patchOf(field, fields);
    const version = fields.version === undefined ? {} : { version: Number(fields.version) };
    const updates = ids.map((id, place) => ({ id, idAt: ['ids', place], patch, patchAt: [], ...version }));
    try {
      const { updated, failures } = await this.database.unitOfWork({ workspaceId }, () =>
        this.assets.updateMany(workspaceId, { updates, onlyIf: {}, isDryRun: false }, { personId, requestId }),
      );
      if (failures[0]?.code !== 'condition_failed') return updated;
      throw new DomainError('precondition_failed', OUTDATED, [{ parameter: field, code: 'format', detail: OUTDATED }]);
    } catch (error) {
      if (!(error instanceof ValidationFailed)) throw error;
      // Shows the fault beside the field of the form.
      throw new ValidationFailed([{ parameter: field, code: 'format', detail: error.detail }]);
    }
  }

  /** The employee who was chosen, or the one with this name or address, as people write it. */
  private async ownerOf(me: SignedIn, ids: readonly AssetId[], { owner: text, ownerId, version }: AssetFieldsDto) {
    if (ownerId !== undefined || text === undefined) return ownerId ?? null;
    const scope = newestOf(me.workspaceId);
    for (const exact of [{ email: text }, { name: text }]) {
      const { items } = await this.assets.list(scope, { categoryKey: 'EMPLOYEE', ...exact }, { size: 2, after: null });
      const [found, other] = items;
      if (found && !other) return assetId(found.id);
    }
    const { found, partly } = await this.assets.employeesWith(scope, text, SHOWN + 1);
    if (found.length > 0) {
      const matches = found.slice(0, SHOWN).sort((one, other) => one.name.localeCompare(other.name, 'en'));
      const content = { title: 'Choose the owner', ids, text, version, matches, more: found.length > SHOWN, partly };
      throw new AnotherResponse((response) =>
        // Its forms go where the one before went.
        sendPage(response, 'chooseOwner', { ...content, address: response.req.originalUrl }),
      );
    }
    const which = partly ? `None of ${MOST_SEARCHED.toLocaleString('en')} employees` : 'No employee';
    const detail = `${which} has this in the name or e-mail address.`;
    throw new ValidationFailed([{ parameter: 'owner', code: 'unknown', detail }]);
  }
}

function patchOf(field: AssetField, { description, classification, tags = '' }: AssetFieldsDto): SentPatch {
  if (field === 'description') return { description: description ?? null };
  if (field === 'classification') return { classification: classification ?? null };
  const keys = tags.split('\n').map((key) => key.trim());
  return { tags: [...new Set(keys.filter((key) => key !== ''))] };
}
