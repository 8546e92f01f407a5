import { pipeline } from 'node:stream/promises';
import { Injectable, Logger } from '@nestjs/common';
import { AuditRecorder } from '#libs/audit/operators';
import type { Page, PageRequest } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { Sessions } from '../typeorm/sessions';
import { textOf } from '../typeorm/workspace-secret';
import { FairShare } from './fair-share';

/** A page of large assets is shorter, because several people may download at once. */
const PAGE = { size: 500, mostBytes: 2_000_000 };

/** A list as a file. Its name without the ending is the one in the audit. */
export interface Download<Item> {
  readonly name: string;
  readonly mediaType: string;
  readonly head: string;
  readonly reader: (page: PageRequest) => Promise<Page<Item>>;
  readonly line: (item: Item) => string;
}

/** Sends lists as files: four a minute for each person, in bounded memory. */
@Injectable()
export class Downloads {
  private readonly logger = new Logger('Downloads');

  constructor(
    private readonly share: FairShare,
    private readonly database: Database,
    private readonly audit: AuditRecorder,
    private readonly sessions: Sessions,
  ) {}

  /** A HEAD reads no row, so it leaves no event. @throws 429 */
  async send<Item>(me: SignedIn, response: Response, download: Download<Item>): Promise<void> {
    if (response.req.method === 'HEAD') return void response.type(download.mediaType).end();
    await this.share.charge(response, 'download');
    // The first page comes before the head of the response, so that its faults have a page of their own.
    const first = await download.reader({ ...PAGE, after: null });
    response.type(download.mediaType).setHeader('Content-Disposition', `attachment; filename="${download.name}"`);
    try {
      await pipeline(this.linesOf(me, download, first), response);
    } catch (error) {
      if (!response.headersSent) throw error;
      this.logger.warn({ message: 'download cut off', requestId: me.requestId, error });
      response.destroy();
    }
  }

  /** Records the rows at the end, complete or cut, before the response ends. */
  private async *linesOf<Item>(me: SignedIn, download: Download<Item>, first: Page<Item>): AsyncGenerator<string> {
    let [rows, page] = [0, first];
    try {
      yield download.head;
      for (;;) {
        rows += page.items.length;
        yield page.items.map(download.line).join('');
        if (page.endPosition === null) return;
        if (!(await this.sessions.find(textOf(me), me.requestId))) throw new Error('The person may not read on.');
        page = await download.reader({ ...PAGE, after: page.endPosition });
      }
    } finally {
      const { workspaceId, requestId } = me;
      const exported = { resource: download.name.split('.')[0] as string, rows, requestId };
      await this.database
        .inTenant(me, (manager) => this.audit.asPerson(me).recordExport(manager, workspaceId, exported))
        .catch((error: unknown) => {
          this.logger.error({ message: 'download not recorded in the audit', workspaceId, ...exported, error });
          throw error;
        });
    }
  }
}
