import { Injectable } from '@nestjs/common';
import { workspaceId } from '#libs/kernel';
import { DataSource } from 'typeorm';
import type { Workspace } from '../domain/workspace';
import { WorkspaceRepository } from '../domain/workspace-repository.port';

interface WorkspaceRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly created_at: Date;
}

/** Relies on the policy that shows all workspaces to the owner of the tables. The runtime role sees none this way. */
@Injectable()
export class WorkspaceRepositoryTypeorm extends WorkspaceRepository {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async create(slug: string, name: string): Promise<Workspace | null> {
    const [row] = await this.rows(
      `INSERT INTO workspace (slug, name) VALUES ($1, $2) ON CONFLICT (slug) DO NOTHING
       RETURNING id, slug, name, created_at`,
      [slug, name],
    );
    return row ? toWorkspace(row) : null;
  }

  async list(): Promise<Workspace[]> {
    return (await this.rows('SELECT id, slug, name, created_at FROM workspace ORDER BY slug', [])).map(toWorkspace);
  }

  async findBySlug(slug: string): Promise<Workspace | null> {
    const [row] = await this.rows('SELECT id, slug, name, created_at FROM workspace WHERE slug = $1', [slug]);
    return row ? toWorkspace(row) : null;
  }

  private async rows(sql: string, values: readonly string[]): Promise<WorkspaceRow[]> {
    return this.dataSource.query<WorkspaceRow[]>(sql, [...values]);
  }
}

function toWorkspace(row: WorkspaceRow): Workspace {
  return { id: workspaceId(row.id), slug: row.slug, name: row.name, createdAt: row.created_at };
}
