import { Injectable } from '@nestjs/common';
import type { Expand, Page, PageRequest, WorkspaceId } from '#libs/kernel';
import type { Response } from 'express';
import { Settings } from '../config/settings';
import { type Dto, knownTo } from '../input/dto-metadata.decorator';
import { type Texts, fromTexts } from '../input/input.pipe';
import { type CursorContent, CursorInvalid, Cursors, type ListFilters, digestOf } from './cursors';
import { DEFAULT_PAGE_SIZE, type PageInfoDto } from './page.dto';

/** A page ends with the item that reaches this size in Postgres' text form. Few do: ordinary pages take 0.1 MB. */
export const MAX_PAGE_BYTES = 6_000_000;
const NO_FILTERS = new Set(['pageSize', 'pageCursor', 'expand']);
/** Many proxies refuse a longer header, and with it the response. */
const MAX_LINK_LENGTH = 8_192;

/** The console reads days, too. A cursor has the instant that one of them is, which the API reads. */
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A query with the members that every list has. Its other members are filters. */
interface PagedQuery {
  readonly pageSize?: number;
  readonly pageCursor?: string;
  readonly expand?: Expand;
}

export interface ListRequest<Filters> {
  readonly page: PageRequest;
  /** The filters that apply: those sent, or those of the cursor. */
  readonly filters: Filters;
  /** The same filters as texts, for cursors. */
  readonly texts: ListFilters;
}

interface PagingOptions {
  readonly defaultSize?: number;
  /** Parameters beside `pageSize` and `pageCursor` that are no filters. */
  readonly others?: readonly string[];
}

/** Turns a list's query into a page request, and a page into the specification's envelope. */
@Injectable()
export class Paging {
  constructor(
    private readonly cursors: Cursors,
    private readonly settings: Settings,
  ) {}

  /**
   * With a cursor, omitted filters come from the cursor, and sent filters must equal those in it.
   * @throws `invalid_cursor` otherwise, and for a cursor of another workspace or resource
   */
  request<Query extends PagedQuery>(
    workspaceId: WorkspaceId,
    resource: string,
    query: Query,
    { req }: Response,
    { defaultSize = DEFAULT_PAGE_SIZE, others = [] }: PagingOptions = {},
  ): ListRequest<Omit<Query, keyof PagedQuery>> {
    const { pageSize: size = defaultSize, pageCursor } = query;
    const texts = canonical(filtersOf(req.query as Texts, others), query);
    const bounds = { size, mostBytes: MAX_PAGE_BYTES };
    if (pageCursor === undefined) return { page: { ...bounds, after: null }, filters: filtersOf(query, others), texts };
    const opened = this.open(workspaceId, resource, pageCursor, texts);
    const dto = query.constructor as Dto<Query>;
    // A newer instance knows more filters. Ignoring one would show other items.
    const unknown = Object.keys(opened.filters).find((name) => !knownTo(dto).has(name));
    if (unknown !== undefined) throw new CursorInvalid(`pageCursor holds ${unknown}, which is not a filter here.`);
    const filters = filtersOf(fromTexts(dto, opened.filters), others);
    return { page: { ...bounds, after: opened.after }, filters, texts: opened.filters };
  }

  private open(workspaceId: WorkspaceId, resource: string, pageCursor: string, sent: ListFilters): CursorContent {
    const { after, filters, digests = {} } = this.cursors.open(workspaceId, resource, pageCursor);
    for (const [name, value] of Object.entries(sent)) {
      const isSame = name in digests ? digests[name] === digestOf(value) : filters[name] === value;
      if (!isSame) throw new CursorInvalid(`pageCursor was issued for another ${name}.`);
    }
    const missing = Object.keys(digests).find((name) => !(name in sent));
    if (missing !== undefined) throw new CursorInvalid(`Send ${missing} with pageCursor again: it is long.`);
    return { after, filters: { ...filters, ...sent } };
  }

  /** Describes a page, and names the next one in the `Link` header (RFC 8288). */
  pageInfo(
    response: Response,
    workspaceId: WorkspaceId,
    resource: string,
    page: Page<unknown>,
    filters: ListFilters,
  ): PageInfoDto {
    response.vary('Accept-Encoding');
    const after = page.endPosition;
    if (after === null) return { hasNextPage: false, endCursor: null, totalCount: page.totalCount };
    const endCursor = this.cursors.issue(workspaceId, resource, { after, filters });
    this.linkNext(response, endCursor);
    return { hasNextPage: true, endCursor, totalCount: page.totalCount };
  }

  /** Names the page that begins at the cursor (RFC 8288), unless long filters make the header too long. */
  linkNext(response: Response, endCursor: string): void {
    const link = `<${this.settings.baseUrl}${nextPage(response, endCursor)}>; rel="next"`;
    if (link.length <= MAX_LINK_LENGTH) response.setHeader('Link', link);
  }
}

/** The texts of what was read, the same for the same filter: the case of ids and the order of a list do not matter. */
function canonical(texts: Texts, query: object): Texts {
  const read = Object.entries(query).flatMap(([name, value]: [string, unknown]) => {
    const text = texts[name];
    return value === undefined || text === undefined ? [] : [[name, canonicalText(name, value, text)] as const];
  });
  return Object.fromEntries(read);
}

function canonicalText(name: string, value: unknown, text: string): string {
  if (Array.isArray(value)) return [...(value as string[])].sort().join(',');
  if (typeof value === 'string') return value;
  const hasNoOffset = name === 'asOf' || DAY.test(text);
  return value instanceof Date && hasNoOffset ? value.toISOString() : text;
}

/** The members that are present, and filters. */
function filtersOf<Query extends object>(query: Query, others: readonly string[]): Omit<Query, keyof PagedQuery> {
  const isFilter = ([name, value]: [string, unknown]): boolean =>
    !NO_FILTERS.has(name) && value !== undefined && !others.includes(name);
  return Object.fromEntries(Object.entries(query).filter(isFilter)) as Omit<Query, keyof PagedQuery>;
}

/** The request's path and parameters with the next page's cursor. */
function nextPage({ req }: Response, endCursor: string): string {
  const query = new URLSearchParams(req.query as Record<string, string>);
  // A cursor is later than it, and is refused beside it.
  query.delete('since');
  query.set('pageCursor', endCursor);
  return `${req.context.instance}?${query.toString()}`;
}
