import type { WorkspaceId } from '#libs/kernel';

export interface Workspace {
  readonly id: WorkspaceId;
  readonly slug: string;
  readonly name: string;
  readonly createdAt: Date;
}

/** Lower-case letters, digits and inner hyphens, at most 63: fits a command line and a host name. */
export const WORKSPACE_SLUG = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
