import type { WorkspaceId } from './branded-ids';

/**
 * Age of the data that a read may see. `newest` reads the primary and sees every commit. `recent` may read a standby,
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

/** Resources that are read beside an item. */
export type Expand = 'owner';

/** A read of the past, as of an instant to the millisecond. */
export interface ThenRequest {
  readonly asOf: Date;
  readonly expand?: Expand | undefined;
}
