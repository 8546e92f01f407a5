import { Injectable } from '@nestjs/common';
import { type AuditAct, AuditRecorder } from '#libs/audit/operators';
import type { Page, PageRequest, ReadScope, WorkspaceId } from '#libs/kernel';
import { takeTicket } from '#libs/platform/changes';
import { Database } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import type { CountedTagKey, TagKey } from '../domain/tag-key';
import { TagKeyRepository } from '../domain/tag-key-repository.port';
import { TAG_KEY_LIST } from './tag-key-list';
import { TagCountRow, TagKeyRow } from './tag-key.row';

const BATCH = 2_000;

/**
 * One batch of assets, in the order of their ids, like every writer. An array is found once: statistics of before the
 * assets came would let Postgres find the batch again for each asset.
 */
const LOCK = `
  SELECT id FROM asset
   WHERE workspace_id = $1 AND id = ANY (ARRAY (
     SELECT asset_id FROM asset_tag WHERE workspace_id = $1 AND tag_key_id = $2 LIMIT ${BATCH}))
   ORDER BY id FOR NO KEY UPDATE`;

/**
 * Removes tag rows and rendered tags together. A statement of its own, because it must see what the locks waited for:
 * Postgres would otherwise compute such rows again, each with a change set of its own. A hidden asset keeps its change set:
 * clients see no change, and a purge counts from its removal.
 */
const UNTAG = `
  WITH drawn AS (SELECT nextval('change_set_id') AS id
  ), removed AS (
    DELETE FROM asset_tag WHERE workspace_id = $1 AND tag_key_id = $2 AND asset_id = ANY ($4::bigint[]) RETURNING asset_id
  ), rendered AS (
    UPDATE asset SET version = version + 1,
           change_id = CASE WHEN facet IS NULL THEN change_id ELSE drawn.id END,
           updated_at = CASE WHEN facet IS NULL THEN updated_at ELSE GREATEST(updated_at, now()) END, tags = COALESCE(
             (SELECT jsonb_agg(tag ORDER BY place) FROM jsonb_array_elements(tags) WITH ORDINALITY AS t (tag, place)
               WHERE tag->>'key' <> $3), '[]')
      FROM drawn WHERE workspace_id = $1 AND asset.id = ANY ($4::bigint[]) AND asset.id IN (SELECT asset_id FROM removed)
  )
  SELECT count(*)::int AS assets FROM removed`;

@Injectable()
export class TagKeyRepositoryTypeorm extends TagKeyRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
  ) {
    super();
  }

  async create(workspaceId: WorkspaceId, { key, value, platform }: Omit<TagKey, 'createdAt'>): Promise<TagKey | null> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const inserted = await manager
        .createQueryBuilder()
        .insert()
        .into(TagKeyRow)
        .values({ workspace_id: workspaceId, key, value, platform })
        .orIgnore()
        .returning('*')
        .execute();
      const [row] = inserted.raw as TagKeyRow[];
      if (!row) return null;
      await this.record(manager, workspaceId, 'tag_key.created', key);
      return toTagKey(row);
    });
  }

  async list(workspaceId: WorkspaceId): Promise<TagKey[]> {
    const rows = await this.database.inTenant({ workspaceId }, (manager) =>
      manager
        .createQueryBuilder(TagKeyRow, 'tag_key')
        .where({ workspace_id: workspaceId })
        .orderBy('tag_key.key COLLATE "C"')
        .getMany(),
    );
    return rows.map(toTagKey);
  }

  async page(scope: ReadScope, readOnly: boolean | undefined, page: PageRequest): Promise<Page<CountedTagKey>> {
    return TAG_KEY_LIST.page(this.database, scope, { filters: { readOnly } }, page);
  }

  async delete(
    workspaceId: WorkspaceId,
    key: string,
    onProgress: (assets: number) => void = () => undefined,
  ): Promise<{ readonly assets: number } | null> {
    const found = await this.database.inTenant({ workspaceId }, (manager) =>
      manager.findOneBy(TagKeyRow, { workspace_id: workspaceId, key }),
    );
    if (!found) return null;
    let assets = 0;
    for (;;) {
      const untagged = await this.deleteBatch(workspaceId, found.id, key, assets === 0);
      if (untagged === null) return { assets };
      assets += untagged;
      onProgress(assets);
    }
  }

  /** Returns the number of changed assets; null when none is left and the key is deleted. */
  private async deleteBatch(
    workspaceId: WorkspaceId,
    id: string,
    key: string,
    isFirst: boolean,
  ): Promise<number | null> {
    const recordFirst = async (manager: EntityManager): Promise<void> => {
      if (isFirst) await this.record(manager, workspaceId, 'tag_key.deleted', key);
    };
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const locked = await manager.query<{ id: string }[]>(LOCK, [workspaceId, id]);
      if (locked.length > 0) {
        const ids = locked.map((asset) => asset.id);
        const [batch] = await manager.query<{ assets: number }[]>(UNTAG, [workspaceId, id, key, ids]);
        // Updates may have taken the key from all of them.
        if (!batch?.assets) return 0;
        await recordFirst(manager);
        const { text, values } = takeTicket(workspaceId, { type: 'OPERATOR' }, this.audit.who);
        await manager.query(text, [...values]);
        return batch.assets;
      }
      // Fails when an asset received the key meanwhile. The repeat finds that asset.
      const { affected } = await manager.delete(TagKeyRow, { workspace_id: workspaceId, id });
      // Another command deleted it meanwhile, and recorded that.
      if (!affected) return null;
      await manager.delete(TagCountRow, { workspace_id: workspaceId, tag_key_id: id });
      await recordFirst(manager);
      return null;
    });
  }

  private async record(
    manager: EntityManager,
    workspaceId: WorkspaceId,
    action: AuditAct['action'],
    key: string,
  ): Promise<void> {
    await this.audit.recordAct(manager, workspaceId, { action, target: { type: 'TAG_KEY', id: key } });
  }
}

function toTagKey(row: TagKeyRow): TagKey {
  return { key: row.key, value: row.value, platform: row.platform, createdAt: row.created_at };
}
