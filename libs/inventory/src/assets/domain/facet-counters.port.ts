import type { WorkspaceId } from '#libs/kernel';

/** A counter that differs from a full count of its assets. */
export interface CounterDifference {
  /** The type of the assets, as clients read it. */
  readonly subKey: string;
  /** Classification (0 unknown to 3 confidential) × 4, + 2 with an owner, + 1 with a description. */
  readonly facet: number;
  /** Value of the counter. */
  readonly counted: number;
  /** Full count of the rows in the same snapshot. */
  readonly actual: number;
}

/** A count of the assets of one value of a filter that differs from a full count. */
export interface ValueDifference {
  readonly filter: 'ownerId' | 'tagKey' | 'source';
  /** The value; that of a source with type and facet, as its counts are by both. */
  readonly value: string;
  readonly counted: number;
  readonly actual: number;
}

export interface CounterReconciliation {
  /** Visible assets of the workspace, by a full count. */
  readonly assets: number;
  /** The wrong counters, by type and facet. They are corrected by now. */
  readonly wrong: readonly CounterDifference[];
  /** The wrong counts of owners, tag keys and sources. They are corrected by now. */
  readonly wrongValues: readonly ValueDifference[];
}

/** The counters behind the totals of filtered lists. */
export abstract class FacetCounters {
  /**
   * Compares every counter of the workspace with a full count, each kind in one snapshot, and corrects the differences.
   * Assets may change meanwhile: changes do not wait, and each is counted exactly once. Concurrent repairs of one
   * workspace take turns.
   */
  abstract reconcile(workspaceId: WorkspaceId): Promise<CounterReconciliation>;
}
