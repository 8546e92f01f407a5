import type { Workspace } from './workspace';

/** Stores all workspaces. For operators only, never on behalf of a request. */
export abstract class WorkspaceRepository {
  /** Returns null when the slug is taken. */
  abstract create(slug: string, name: string): Promise<Workspace | null>;

  /** Returns every workspace, sorted by slug. */
  abstract list(): Promise<Workspace[]>;

  abstract findBySlug(slug: string): Promise<Workspace | null>;
}
