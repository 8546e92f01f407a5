import { Controller, Get, Res } from '@nestjs/common';
import { CHECKS, type Computer, ComputerDirectory, ComputerQueryDto } from '#libs/computers';
import { newestOf } from '#libs/kernel';
import { Paging } from '#libs/platform/pagination';
import type { Response } from 'express';
import { csvLine } from '../domain/csv';
import { Access, Sent, type SentTo } from './access.decorator';
import { CHECK_LABELS } from './coverage';
import { Downloads } from './downloads';
import { idOf } from './path-id';
import { listQuery, sendList } from './list-query';
import { sendPage } from './page';

const RESOURCE = 'computers';
const PAGING = { defaultSize: 50 };
/** Columns of the file. The checks follow. */
const COLUMNS = [
  ...['id', 'name', 'owner', 'ownerEmail', 'serialNumber', 'operatingSystem', 'osVersion', 'isMonitored'],
  ...['lastCheckedAt', 'source'],
] as const;
/** The members of a computer with the results of its checks, in the order of {@link CHECKS}. */
const FLAGS = ['antivirusInstalled', 'diskEncryptionEnabled', 'passwordManagerInstalled', 'screenLockEnabled'] as const;

@Controller('computers')
@Access('viewer')
export class ComputersController {
  constructor(
    private readonly computers: ComputerDirectory,
    private readonly paging: Paging,
    private readonly downloads: Downloads,
  ) {}

  @Get()
  async list(@Sent() { me: { workspaceId } }: SentTo, @Res() response: Response): Promise<void> {
    await sendList(response, 'computers', { title: 'Computers', checks: CHECK_LABELS }, async () => {
      const query = await listQuery(ComputerQueryDto, response.req);
      const { page, filters, texts } = this.paging.request(workspaceId, RESOURCE, query, response, PAGING);
      const found = await this.computers.list(newestOf(workspaceId), filters, page, 'owner');
      const { endCursor, totalCount } = this.paging.pageInfo(response, workspaceId, RESOURCE, found, texts);
      const computers = found.items.map((computer) => ({ ...computer, checks: checksOf(computer) }));
      return { computers, totalCount, filters: texts, cursor: endCursor };
    });
  }

  @Get('download')
  async download(@Sent() { me }: SentTo, @Res() response: Response): Promise<void> {
    const query = await listQuery(ComputerQueryDto, response.req);
    const { filters } = this.paging.request(me.workspaceId, RESOURCE, query, response);
    await this.downloads.send(me, response, {
      ...{ name: `${RESOURCE}.csv`, mediaType: 'text/csv; charset=utf-8' },
      head: csvLine([...COLUMNS, ...CHECKS]),
      reader: await this.computers.reader(me.workspaceId, filters, { expand: 'owner' }),
      line: (one) => {
        const row = { ...one, owner: one.owner?.name, ownerEmail: one.owner?.email };
        return csvLine([...COLUMNS.map((column) => row[column]), ...checksOf(one).map(({ state }) => state)]);
      },
    });
  }

  @Get(':id')
  async show(@Sent() { me, id }: SentTo<'id'>, @Res() response: Response): Promise<void> {
    const computer = await this.computers.get(newestOf(me.workspaceId), idOf(id), { expand: 'owner' });
    sendPage(response, 'computer', { title: computer.name, computer, checks: checksOf(computer) });
  }
}

const checksOf = ({ compliance }: Computer) =>
  FLAGS.map((flag, place) => {
    const [label, passes] = [Object.values(CHECK_LABELS)[place], compliance[flag]];
    return { label, state: passes === null ? 'unknown' : passes ? 'passing' : 'failing' };
  });
