import type { AssetId, Change, ChangePage, FeedStart, Freshness, WorkspaceId } from '#libs/kernel';
import type { Computer } from './computer';

/** The change feed of computers. */
export abstract class ComputerFeed {
  /**
   * The latest state of each computer, ordered by commit, from a start on. It may also show a computer of which only the
   * asset changed. A reader who follows the positions misses no committed change.
   * @throws `cursor_expired` where that cannot be promised
   */
  abstract read(
    workspaceId: WorkspaceId,
    start: FeedStart,
    size: number,
    freshness: Freshness,
  ): Promise<ChangePage<Change<AssetId, Computer>>>;
}
