import { Readable } from 'node:stream';
import { Injectable, Logger, StreamableFile } from '@nestjs/common';
import {
  DomainError,
  type Expand,
  type Page,
  type PageRequest,
  type ThenRequest,
  ValidationFailed,
  type WorkspaceId,
} from '#libs/kernel';
import { HttpAdapterHost } from '@nestjs/core';
import type { Response } from 'express';
import { ChangeFeed } from '../changes/change-feed';
import type { Caller } from '../http/request-context';
import type { ApiServerAdapter } from '../http/server/api-server';
import { ConnectionSilent } from '../http/server/closing';
import { Metrics } from '../observability/metrics';
import { Tally } from '../observability/tally';
import { Cursors, type ListFilters } from '../pagination/cursors';
import { Paging } from '../pagination/paging';
import { BYTES_PER_READ, ROWS_PER_CHECKPOINT, StreamTurns, streamLines } from './stream-lines';
import { StreamInProgress, StreamPlaces } from './stream-places';
import { NDJSON_MEDIA_TYPE } from './stream-route';

const MAX_DURATION_MS = 30 * 60_000;
/** With the time in which keys are read again it is below five seconds, in which an operator's act ends a stream. */
const ACCESS_CHECK_MS = 2_000;

/** A list that clients may read as one stream. */
export interface StreamedList<Item, Filters> {
  /** The same name as for pages. Cursors, metrics and the log use it. */
  readonly resource: string;
  /** The `type` of a line with an item, and its other member. */
  readonly item: string;
  /**
   * Gives the function that reads pages of the list, as it is now or was at an instant.
   * @throws `validation_failed` for an instant that cannot be asked for
   */
  reader(
    workspaceId: WorkspaceId,
    filters: Filters,
    request: Partial<ThenRequest>,
  ): Promise<(page: PageRequest) => Promise<Page<Item>>>;
  /** The item as clients see it. */
  show(item: Item): object;
  /**
   * The feed that goes on where a stream ends: the name in its cursors, and the filters that it knows, like the past. Null
   * for a list that only grows at its end: its stream has no start line, and its last checkpoint goes on.
   */
  readonly feed: { readonly resource: string; readonly filters: readonly string[] } | null;
}

/** The query of a list. Its other members are filters. */
interface StreamQuery {
  readonly pageSize?: number;
  readonly pageCursor?: string;
  readonly expand?: Expand;
}

/** The members of a query that are filters of its stream. */
export type StreamedQuery<Query extends StreamQuery> = Omit<Query, keyof StreamQuery>;

/** Why a stream ended; `complete` is the only one with an end line. */
const OUTCOMES = ['complete', 'disconnected', 'stalled', 'too_long', 'withdrawn', 'stopped', 'failed'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** A stream that ended, complete or cut. */
export interface EndedStream {
  readonly caller: Caller;
  readonly requestId: string;
  readonly resource: string;
  /** Rows sent in this response. */
  readonly rows: number;
}

interface Stream {
  readonly caller: Caller;
  readonly resource: string;
  readonly response: Response;
  outcome: Outcome;
  rows: number;
  error?: unknown;
}

/** Whole lists as NDJSON, in one response each. */
@Injectable()
export class Streams {
  private readonly logger = new Logger('Streams');
  private readonly underWay = new Set<Stream>();
  private readonly turns = new StreamTurns();
  private readonly outcomes = new Tally(OUTCOMES);
  private readonly listeners: ((ended: EndedStream) => void)[] = [];
  private rows = 0;
  private isStopping = false;

  constructor(
    private readonly paging: Paging,
    private readonly cursors: Cursors,
    private readonly places: StreamPlaces,
    private readonly feed: ChangeFeed,
    private readonly server: HttpAdapterHost<ApiServerAdapter>,
    metrics: Metrics,
  ) {
    metrics.gauge({ name: 'compliance_streams_under_way', help: 'Streams in progress.' }, () => this.underWay.size);
    metrics.tally({ name: 'compliance_streams_total', help: 'Streams by outcome.' }, 'outcome', this.outcomes);
    metrics.counts({ name: 'compliance_stream_rows_total', help: 'Rows sent in streams.' }, () => [
      { labels: {}, value: this.rows },
    ]);
  }

  /**
   * Begins a stream: reads the first rows, and takes the application's place and a token of its bucket.
   * @throws `validation_failed`, `invalid_cursor`, `cursor_expired`, `export_in_progress`, `rate_limited`,
   * `service_unavailable`; afterwards the stream just ends
   */
  async begin<Item, Query extends StreamQuery>(
    caller: Caller,
    query: Query,
    response: Response,
    list: StreamedList<Item, StreamedQuery<Query>>,
  ): Promise<StreamableFile> {
    const { workspaceId, clientId } = caller;
    if (query.pageSize !== undefined) throw new PageSizeRefused();
    const { page, filters, texts } = this.paging.request(workspaceId, cursorsOf(list.resource), query, response);
    const { asOf } = filters as Partial<ThenRequest>;
    if (asOf) refuseOtherFilters(list.feed?.filters ?? [], filters);
    response.vary('Accept-Encoding');
    const { after, count } = positionOf(page.after);
    const isResumed = page.after !== null;
    const firstRows = async () => {
      // Waits here for the instant, outside of the turns of streams.
      const read = await list.reader(workspaceId, filters, { ...(asOf && { asOf }), expand: query.expand });
      // Before the first row, so that the feed has every change from then on.
      const start = asOf
        ? { asOf: asOf.toISOString(), ...(isResumed && { resumed: true }) }
        : list.feed && (await this.startOf(workspaceId, list.feed, texts, isResumed));
      const beginning = { size: ROWS_PER_CHECKPOINT, after, mostBytes: BYTES_PER_READ };
      const first = await this.turns.take(() => {
        // Nobody waits for these rows any more, and another request may have the place.
        if (response.closed) throw new StreamInProgress();
        return read(beginning);
      });
      if (this.isStopping)
        throw new DomainError('service_unavailable', 'The service is restarting. Send the request again.');
      return { start, first, read };
    };
    this.server.httpAdapter.holdStream(response);
    const { start, first, read, leavePlace } = await this.places.take(clientId, response, firstRows);
    if (leavePlace === null) return ndjson(Readable.from([]));
    const stream = this.watch(caller, list.resource, response, leavePlace);
    const rowsOfStream = {
      start: start && { type: 'start', ...(!asOf && { totalCount: first.totalCount }), ...start },
      first,
      countBefore: count,
      read,
      line: (item: Item) => ({ type: list.item, [list.item]: list.show(item) }),
      checkpoint: (position: string, rows: number) =>
        this.checkpoint(workspaceId, list.resource, texts, position, rows),
      sent: (rows: number) => this.count(stream, rows),
    };
    const lines = streamLines(rowsOfStream, this.turns);
    return ndjson(Readable.from(this.followed(lines, stream), { objectMode: false }));
  }

  /** Calls the listener after each stream. */
  onEnd(listener: (ended: EndedStream) => void): void {
    this.listeners.push(listener);
  }

  /** Ends all streams without their end line, and lets no other begin. */
  stop(): void {
    this.isStopping = true;
    for (const stream of this.underWay) cut(stream, 'stopped');
  }

  private async *followed(lines: AsyncIterable<string>, stream: Stream): AsyncGenerator<string> {
    try {
      yield* lines;
      stream.outcome = 'complete';
    } catch (error) {
      fail(stream, error);
      throw error;
    }
  }

  private watch(caller: Caller, resource: string, response: Response, leavePlace: () => void): Stream {
    const stream: Stream = { caller, resource, response, outcome: 'disconnected', rows: 0 };
    const end = (): void => {
      clearTimeout(longest);
      clearInterval(access);
      leavePlace();
      this.underWay.delete(stream);
      this.end(stream);
    };
    const longest = setTimeout(() => cut(stream, 'too_long'), MAX_DURATION_MS).unref();
    const access = setInterval(() => void cutIfWithdrawn(stream), ACCESS_CHECK_MS).unref();
    this.underWay.add(stream);
    response.once('close', end);
    response.req.context.isStream = true;
    const { requestId } = response.req.context;
    this.logger.log({ message: 'stream begun', requestId, resource });
    // The client may have left, and the instance may have begun to stop, while the place was taken.
    if (response.closed) end();
    else if (this.isStopping) cut(stream, 'stopped');
    return stream;
  }

  private end(stream: Stream): void {
    const { caller, resource, response, rows, error } = stream;
    const isLost = !response.writableFinished && ['complete', 'disconnected'].includes(stream.outcome);
    const isSilent = response.req.socket.errored instanceof ConnectionSilent;
    const outcome = isLost ? (isSilent ? 'stalled' : 'disconnected') : stream.outcome;
    this.outcomes.add(outcome);
    const { requestId } = response.req.context;
    for (const listener of this.listeners) listener({ caller, requestId, resource, rows });
    if (outcome === 'complete') {
      this.logger.log({ message: 'stream complete', requestId, resource, rows });
      return;
    }
    this.logger.warn({ message: 'stream cut', requestId, resource, outcome, rows, ...(error ? { error } : {}) });
  }

  private count(stream: Stream, rows: number): void {
    stream.rows += rows;
    this.rows += rows;
  }

  private async startOf(
    workspaceId: WorkspaceId,
    feed: NonNullable<StreamedList<never, never>['feed']>,
    sent: ListFilters,
    isResumed: boolean,
  ): Promise<object> {
    if (isResumed) return { resumed: true };
    const filters = Object.fromEntries(Object.entries(sent).filter(([name]) => feed.filters.includes(name)));
    const after = await this.feed.positionNow(workspaceId);
    return { resumeCursor: this.cursors.issue(workspaceId, feed.resource, { after, filters }) };
  }

  private checkpoint(
    workspaceId: WorkspaceId,
    resource: string,
    filters: ListFilters,
    position: string,
    count: number,
  ): string {
    return this.cursors.issue(workspaceId, cursorsOf(resource), { after: `${count} ${position}`, filters });
  }
}

const ndjson = (lines: Readable): StreamableFile => new StreamableFile(lines, { type: NDJSON_MEDIA_TYPE });

/** @throws `validation_failed` for a filter that the past does not know */
function refuseOtherFilters(known: readonly string[], filters: object): void {
  const others = Object.keys(filters).filter((name) => name !== 'asOf' && !known.includes(name));
  if (others.length === 0) return;
  throw new ValidationFailed(
    others.map((parameter) => ({ parameter, code: 'choice', detail: `${parameter} cannot be sent with asOf.` })),
  );
}

class PageSizeRefused extends ValidationFailed {
  constructor() {
    super([
      { parameter: 'pageSize', code: 'unknown', detail: 'pageSize cannot be sent with Accept: application/x-ndjson.' },
    ]);
  }
}

/** Keeps cursors of pages and of streams apart. */
const cursorsOf = (resource: string): string => `${resource} stream`;

/** Reads what {@link Streams.checkpoint} wrote. */
function positionOf(after: string | null): { readonly after: string | null; readonly count: number } {
  if (after === null) return { after: null, count: 0 };
  const separator = after.indexOf(' ');
  return { after: after.slice(separator + 1), count: Number(after.slice(0, separator)) };
}

function fail(stream: Stream, error: unknown): void {
  stream.outcome = 'failed';
  stream.error = error;
}

/** A client whose access cannot be checked is cut too. It resumes the stream when it may. */
async function cutIfWithdrawn(stream: Stream): Promise<void> {
  try {
    if (!(await stream.caller.mayGoOn())) cut(stream, 'withdrawn');
  } catch (error) {
    fail(stream, error);
    stream.response.destroy();
  }
}

/** Closes the connection, so that the client sees that the response is not complete. */
function cut(stream: Stream, outcome: Outcome): void {
  stream.outcome = outcome;
  stream.response.destroy();
}
