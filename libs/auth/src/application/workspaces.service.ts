import { Injectable } from '@nestjs/common';
import type { Workspace } from '../domain/workspace';
import { WorkspaceRepository } from '../domain/workspace-repository.port';

/** Manages workspaces for operators. */
@Injectable()
export class WorkspacesService {
  constructor(private readonly workspaces: WorkspaceRepository) {}

  /** Returns null when the slug is taken. */
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
