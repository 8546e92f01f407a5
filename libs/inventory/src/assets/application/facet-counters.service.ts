import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { type CounterDifference, FacetCounters, type ValueDifference } from '../domain/facet-counters.port';

export interface CountersReport {
  readonly workspaces: number;
  /** Visible assets of all workspaces, by a full count. */
  readonly assets: number;
  readonly wrong: readonly (CounterDifference & { readonly workspaceId: WorkspaceId })[];
  readonly wrongValues: readonly (ValueDifference & { readonly workspaceId: WorkspaceId })[];
  /** Number of corrected counters. */
  readonly repaired: number;
}

/** Finished workspaces, and the assets counted in them. */
export interface CountersProgress {
  readonly workspaces: number;
  readonly assets: number;
}

/** Checks and repairs the counters of lists. Database triggers normally keep them exact. */
@Injectable()
export class FacetCountersService {
  constructor(private readonly counters: FacetCounters) {}

  /**
   * Compares and repairs one workspace after the other. An error of `onProgress` ends it; finished workspaces stay
   * repaired.
   */
  async reconcile(
    workspaceIds: readonly WorkspaceId[],
    onProgress: (progress: CountersProgress) => void = () => undefined,
  ): Promise<CountersReport> {
    let assets = 0;
    const wrong: CountersReport['wrong'][number][] = [];
    const wrongValues: CountersReport['wrongValues'][number][] = [];
    for (const [done, workspaceId] of workspaceIds.entries()) {
      onProgress({ workspaces: done, assets });
      const found = await this.counters.reconcile(workspaceId);
      assets += found.assets;
      wrong.push(...found.wrong.map((difference) => ({ workspaceId, ...difference })));
      wrongValues.push(...found.wrongValues.map((difference) => ({ workspaceId, ...difference })));
    }
    onProgress({ workspaces: workspaceIds.length, assets });
    return { workspaces: workspaceIds.length, assets, wrong, wrongValues, repaired: wrong.length + wrongValues.length };
  }
}
