import { Injectable } from '@nestjs/common';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import type { Workspace } from '../domain/workspace';
import { WorkspaceRow } from './workspace.row';
import { WorkspaceRows } from './workspace-rows';

/** Works through the policy that lets the owner of the tables see every workspace; the runtime role sees none this way. */
const ALL = { outsideTenants: true } as const;

/** All workspaces. For operators only, never on behalf of a request. */
@Injectable()
export class Workspaces {
  constructor(private readonly database: Database) {}

  /** Returns null when the slug is taken. */
  async create(slug: string, name: string): Promise<Workspace | null> {
    const inserted = await this.database.inTenant(ALL, (manager) =>
      manager
        .createQueryBuilder()
        .insert()
        .into(WorkspaceRow)
        .values({ slug, name })
        .orIgnore()
        .returning('*')
        .execute(),
    );
    const [row] = inserted.raw as WorkspaceRow[];
    return row ? toWorkspace(row) : null;
  }

  /** Returns every workspace, sorted by slug. */
  async list(): Promise<Workspace[]> {
    const rows = await this.database.inTenant(ALL, (manager) => manager.find(WorkspaceRow, { order: { slug: 'ASC' } }));
    return rows.map(toWorkspace);
  }

  async findBySlug(slug: string): Promise<Workspace | null> {
    const row = await this.database.inTenant(ALL, (manager) => manager.findOneBy(WorkspaceRow, { slug }));
    return row && toWorkspace(row);
  }

  /** Counts the workspace's rows in each table. */
  async rowCounts(id: WorkspaceId): Promise<Record<string, number>> {
    return new WorkspaceRows(this.database, id).counts();
  }

  /** Deletes all rows of the workspace but those of these tables. `onProgress` may throw to stop between batches. */
  async deleteRows(id: WorkspaceId, kept: readonly string[], onProgress: (deleted: number) => void): Promise<void> {
    await new WorkspaceRows(this.database, id).delete(kept, onProgress);
  }

  /** Deletes a workspace and the last of its rows, which `deleteLast` removes, in one transaction. */
  async delete(
    id: WorkspaceId,
    deleteLast: (manager: EntityManager, workspaceId: WorkspaceId) => Promise<void>,
  ): Promise<void> {
    await this.database.inTenant({ workspaceId: id }, async (manager) => {
      await deleteLast(manager, id);
      await manager.delete(WorkspaceRow, { id });
    });
  }
}

function toWorkspace(row: WorkspaceRow): Workspace {
  return { id: workspaceId(row.id), slug: row.slug, name: row.name, createdAt: row.created_at };
}
