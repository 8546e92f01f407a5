import { Controller, Get, Req, Res } from '@nestjs/common';
import { AuditCheckpointStore, AuditEventQueryDto, PublishedEvents } from '#libs/audit';
import { Clock, DomainError } from '#libs/kernel';
import { FeedPaging } from '#libs/platform/change-pages';
import type { Request, Response } from 'express';
import { shownName } from '../domain/person';
import type { SignedIn } from '../domain/signed-in';
import { People } from '../typeorm/people';
import { Access, Me } from './access.decorator';
import { Downloads } from './downloads';
import { downloadAddress, listQuery, nextPage } from './list-query';
import { sendPage } from './page';

const RESOURCE = 'audit-events';
const PAGE_SIZE = 100;
/** Without a time, the page begins so many days ago. */
const DAYS = 7;
const DAY_MS = 86_400_000;

@Controller('audit')
@Access('viewer')
export class AuditController {
  constructor(
    private readonly published: PublishedEvents,
    private readonly checkpoints: AuditCheckpointStore,
    private readonly paging: FeedPaging,
    private readonly people: People,
    private readonly clock: Clock,
    private readonly downloads: Downloads,
  ) {}

  @Get()
  async list(@Me() { workspaceId }: SignedIn, @Req() request: Request, @Res() response: Response): Promise<void> {
    completeDays(request);
    const query = await listQuery(AuditEventQueryDto, request, response);
    if (!query) return;
    const { start, size, filters, texts } = this.paging.request(workspaceId, RESOURCE, query, response);
    const since = new Date(this.clock.now() - DAYS * DAY_MS);
    const from = start.kind === 'beginning' ? ({ kind: 'since', since } as const) : start;
    const pageSize = query.pageSize === undefined ? PAGE_SIZE : size;
    const [page, checkpoint, waiting, people] = await Promise.all([
      this.published.read(workspaceId, filters, from, pageSize).catch((error: unknown) => {
        // Archived meanwhile. The page begins after them, unless somebody asked for a time.
        const isArchived = error instanceof DomainError && error.code === 'cursor_expired';
        if (start.kind !== 'beginning' || !isArchived) throw error;
        return this.published.read(workspaceId, filters, start, pageSize);
      }),
      this.checkpoints.newest(workspaceId),
      this.published.oldestWaiting(workspaceId),
      this.people.list(workspaceId),
    ]);
    const envelope = this.paging.envelope(response, workspaceId, RESOURCE, page, texts);
    response.removeHeader('Link');
    const nameOf = new Map(people.map((person) => [person.id, shownName(person)]));
    sendPage(response, 'audit', {
      ...{
        title: 'Audit',
        typed: request.query,
        checkpoint,
        waiting,
        since: from.kind === 'since' ? from.since : null,
      },
      download: downloadAddress(request),
      next: nextPage(request, page.hasMore ? envelope.resumeCursor : null),
      // The newest first: whoever looks wants to know what happened lately.
      events: [...page.changes].reverse().map((event) => ({
        ...event,
        who: whoOf(event.actor, nameOf),
        target: { ...event.target, name: nameOf.get(event.target.id) ?? event.target.id },
      })),
    });
  }

  @Get('download')
  async download(@Me() me: SignedIn, @Req() request: Request, @Res() response: Response): Promise<void> {
    completeDays(request);
    const query = await listQuery(AuditEventQueryDto, request, response);
    if (!query) return;
    const { start, filters } = this.paging.request(me.workspaceId, RESOURCE, query, response);
    await this.downloads.send(me, response, {
      ...{ name: 'audit-events.ndjson', mediaType: 'application/x-ndjson', head: '' },
      target: { type: 'AUDIT', id: RESOURCE },
      reader: async ({ size, after }) => {
        const from = after === null ? start : ({ kind: 'position', position: after } as const);
        const { changes, position, hasMore } = await this.published.read(me.workspaceId, filters, from, size);
        return { items: changes, lastPosition: position, endPosition: hasMore ? position : null, totalCount: 0 };
      },
      line: (event) => `${JSON.stringify(event)}\n`,
    });
  }
}

/** A browser's field of a day sends no time. */
function completeDays(request: Request): void {
  const query = request.query as Record<string, unknown>;
  const complete = (name: string) => {
    const day = query[name];
    return typeof day === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(day) ? { [name]: `${day}T00:00:00Z` } : {};
  };
  Object.defineProperty(request, 'query', {
    value: { ...query, ...complete('since'), ...complete('until') },
    configurable: true,
  });
}

function whoOf(
  {
    type,
    clientId,
    name,
    personId,
  }: { type: string; clientId: string | null; name?: string | null; personId?: string },
  nameOf: ReadonlyMap<string, string>,
): string {
  if (personId !== undefined) return nameOf.get(personId) ?? 'a former person';
  if (clientId !== null) return `application ${clientId}`;
  return `${type === 'IMPORT' ? 'import' : 'operator'}${name ? ` (${name})` : ''}`;
}
