import type { WorkspaceId } from './branded-ids';

/**
 * How new the data of a read must be. `newest` reads the primary and sees every commit. `recent` may read a standby,
 * which lags five seconds at most.
 */
export type Freshness = 'newest' | 'recent';

/** The data that a read sees: of one workspace, and how new. */
export interface ReadScope {
  readonly workspaceId: WorkspaceId;
  readonly freshness: Freshness;
}

/** The data of a workspace with every commit. */
export const newestOf = (workspaceId: WorkspaceId): ReadScope => ({ workspaceId, freshness: 'newest' });

/** What is read beside an item. */
export type Expand = 'owner';

/** What is read of the past: the instant, to the millisecond. */
export interface ThenRequest {
  readonly asOf: Date;
  readonly expand?: Expand | undefined;
}
