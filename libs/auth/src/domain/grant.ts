import type { ApplicationId, RateLimits, WorkspaceId } from '#libs/kernel';

/** The current rights of an application. Every request is checked against them. */
export interface Grant {
  readonly id: ApplicationId;
  readonly workspaceId: WorkspaceId;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Own limits, which replace the general ones. */
  readonly limits: Partial<RateLimits>;
  readonly disabled: boolean;
  /** Increases with every token. Only tokens of the newest generation are accepted. */
  readonly generation: bigint;
}
