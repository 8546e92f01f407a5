import { Injectable } from '@nestjs/common';
import type { Workspace } from '../domain/workspace';
import { WorkspaceRepository } from '../domain/workspace-repository.port';

/** Workspaces as operators see them. */
@Injectable()
export class WorkspacesService {
  constructor(private readonly workspaces: WorkspaceRepository) {}

  /** Null when the slug is taken. */
  async create(slug: string, name: string): Promise<Workspace | null> {
    return this.workspaces.create(slug, name);
  }

  async list(): Promise<Workspace[]> {
    return this.workspaces.list();
  }

  async findBySlug(slug: string): Promise<Workspace | null> {
    return this.workspaces.findBySlug(slug);
  }
}
