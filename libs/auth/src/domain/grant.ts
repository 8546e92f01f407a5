import type { ApplicationId, RateLimits, WorkspaceId } from '#libs/kernel';

/** What an application may do at this moment: what every request is held against. */
export interface Grant {
  readonly id: ApplicationId;
  readonly workspaceId: WorkspaceId;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Limits of its own, which take the place of the general ones. */
  readonly limits: Partial<RateLimits>;
  readonly disabled: boolean;
  /** Rises with every token; only the token of the newest generation is accepted. */
  readonly generation: bigint;
}
