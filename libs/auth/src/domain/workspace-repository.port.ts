import type { Workspace } from './workspace';

/** All workspaces; for operators only, never on behalf of a request. */
export abstract class WorkspaceRepository {
  /** Null when the slug is taken. */
  abstract create(slug: string, name: string): Promise<Workspace | null>;

  /** Every workspace by slug. */
  abstract list(): Promise<Workspace[]>;

  abstract findBySlug(slug: string): Promise<Workspace | null>;
}
