import { Injectable } from '@nestjs/common';
import {
  type ChangePage,
  type FeedStart,
  ValidationFailed,
  type WorkspaceId,
  parseTimeBound,
  plusHint,
} from '#libs/kernel';
import type { Response } from 'express';
import { Cursors, type ListFilters } from '../pagination/cursors';
import { Paging } from '../pagination/paging';
import type { ChangeQueryDto } from './change-query.dto';
import type { FeedPageInfoDto } from './feed-page.dto';

const DEFAULT_PAGE_SIZE = 100;

export interface FeedRequest {
  readonly start: FeedStart;
  readonly size: number;
  /** The filters that apply: those sent, or those of the cursor. */
  readonly filters: ListFilters;
}

/** Turns the query of a change feed into where to read, and a page into its envelope. */
@Injectable()
export class FeedPaging {
  constructor(
    private readonly paging: Paging,
    private readonly cursors: Cursors,
  ) {}

  /** @throws `validation_failed`; `invalid_cursor` for a cursor of another workspace, feed or filter */
  request(workspaceId: WorkspaceId, resource: string, query: ChangeQueryDto): FeedRequest {
    const { since, ...list } = query;
    if (list.pageCursor !== undefined && since !== undefined) {
      throw refusedSince('choice', 'since cannot be given together with pageCursor.');
    }
    const { page, filters } = this.paging.request(workspaceId, resource, list, DEFAULT_PAGE_SIZE);
    const start: FeedStart = page.after === null ? feedStartOf(since) : { kind: 'position', position: page.after };
    return { start, size: page.size, filters };
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

/** @throws `validation_failed` */
export function feedStartOf(since: string | undefined): FeedStart {
  if (since === undefined) return { kind: 'beginning' };
  if (since === 'now') return { kind: 'now' };
  const time = parseTimeBound(since);
  if (!time) {
    throw refusedSince('format', `since must be now or a date-time such as 2026-01-02T03:04:05Z${plusHint(since)}.`);
  }
  return { kind: 'since', since: time };
}

const refusedSince = (code: string, detail: string) => new ValidationFailed([{ parameter: 'since', code, detail }]);
