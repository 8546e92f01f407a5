import { Injectable } from '@nestjs/common';
import type { AssetId, Change, ChangePage, FeedStart, Freshness, WorkspaceId } from '#libs/kernel';
import { ChangeFeed, feedStatement } from '#libs/platform/changes';
import type { Computer } from '../domain/computer';
import { ComputerFeed } from '../domain/computer-feed.port';
import { COMPUTER_COLUMNS, toComputer } from './visible-computer.row';

/** The sub key of every row of the view; see migration 1780000000033-computer-changes. */
const COMPUTER = 12;

const FEED = {
  statement: feedStatement({ relation: 'changed_computer', columns: COMPUTER_COLUMNS, name: 'computer_feed_3' }),
  toItem: toComputer,
  subKeys: [COMPUTER, COMPUTER] as const,
};

@Injectable()
export class ComputerFeedTypeorm extends ComputerFeed {
  constructor(private readonly feed: ChangeFeed) {
    super();
  }

  async read(
    workspaceId: WorkspaceId,
    start: FeedStart,
    size: number,
    freshness: Freshness,
  ): Promise<ChangePage<Change<AssetId, Computer>>> {
    return this.feed.read(workspaceId, FEED, start, size, freshness);
  }
}
