import { Injectable } from '@nestjs/common';
import { type ChangePage, type FeedStart, ValidationFailed, type WorkspaceId } from '#libs/kernel';
import type { Response } from 'express';
import { Cursors, type ListFilters } from '../pagination/cursors';
import { Paging } from '../pagination/paging';
import { type ChangeQueryDto, DEFAULT_FEED_PAGE_SIZE } from './change-query.dto';
import type { FeedPageInfoDto } from './feed-page.dto';

const FEED_OPTIONS = { defaultSize: DEFAULT_FEED_PAGE_SIZE, others: ['since'] };

export interface FeedRequest<Filters> {
  readonly start: FeedStart;
  readonly size: number;
  /** The filters that apply: those sent, or those of the cursor. */
  readonly filters: Filters;
  /** The same filters as texts, for cursors. */
  readonly texts: ListFilters;
}

/** Turns the query of a change feed into where to read, and a page into its envelope. */
@Injectable()
export class FeedPaging {
  constructor(
    private readonly paging: Paging,
    private readonly cursors: Cursors,
  ) {}

  /**
   * @throws `validation_failed`; `invalid_cursor` for a cursor of another workspace, feed or filter
   */
  request<Query extends ChangeQueryDto>(
    workspaceId: WorkspaceId,
    resource: string,
    query: Query,
    response: Response,
  ): FeedRequest<Omit<Query, keyof ChangeQueryDto>> {
    refuseSinceBesideCursor(query);
    const request = this.paging.request(workspaceId, resource, query, response, FEED_OPTIONS);
    const { page, texts } = request;
    const start: FeedStart =
      page.after === null ? feedStartOf(query.since) : { kind: 'position', position: page.after };
    return { start, size: page.size, filters: request.filters as Omit<Query, keyof ChangeQueryDto>, texts };
  }

  /** Returns the members of a page beside its results, and names the next page in `Link`. */
  envelope(
    response: Response,
    workspaceId: WorkspaceId,
    resource: string,
    { position, hasMore }: ChangePage<unknown>,
    filters: ListFilters,
  ): { readonly pageInfo: FeedPageInfoDto; readonly resumeCursor: string } {
    response.vary('Accept-Encoding');
    const resumeCursor = this.cursors.issue(workspaceId, resource, { after: position, filters });
    if (hasMore) this.paging.linkNext(response, resumeCursor);
    return { pageInfo: { hasNextPage: hasMore, endCursor: hasMore ? resumeCursor : null }, resumeCursor };
  }
}

export function feedStartOf(since: 'now' | Date | undefined): FeedStart {
  if (since === undefined) return { kind: 'beginning' };
  return since === 'now' ? { kind: 'now' } : { kind: 'since', since };
}

/** @throws `validation_failed` for a query with both: a cursor is later than `since` */
export function refuseSinceBesideCursor({ pageCursor, since }: ChangeQueryDto): void {
  if (pageCursor === undefined || since === undefined) return;
  const detail = 'since cannot be given together with pageCursor.';
  throw new ValidationFailed([{ parameter: 'since', code: 'choice', detail }]);
}
