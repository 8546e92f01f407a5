import type { WorkspaceId } from '#libs/kernel';

/** One counter that says something else than a full count of the assets it stands for. */
export interface CounterDifference {
  /** The type of the assets, as clients read it. */
  readonly subKey: string;
  /** classification (0 unknown to 3 confidential) × 4, + 2 with an owner, + 1 with a description. */
  readonly facet: number;
  /** What the counter said. */
  readonly counted: number;
  /** What a count of the rows in the same instant gave. */
  readonly actual: number;
}

export interface CounterReconciliation {
  /** Visible assets of the workspace, by a full count. */
  readonly assets: number;
  /** The counters that were wrong, by type and facet; they are right by now. */
  readonly wrong: readonly CounterDifference[];
}

/** The counters from which filtered lists take their totals. */
export abstract class FacetCounters {
  /**
   * Compares every counter of the workspace with a full count of one instant, and puts right those that differ, all of
   * them or none. Changes of assets go on meanwhile, wait for no count, and are in the counters afterwards exactly once.
   * Two at once in a workspace take turns.
   */
  abstract reconcile(workspaceId: WorkspaceId): Promise<CounterReconciliation>;
}
