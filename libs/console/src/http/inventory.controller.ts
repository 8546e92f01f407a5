import { Controller, Get, NotFoundException, Param, Req, Res } from '@nestjs/common';
import {
  ASSET_CATEGORIES,
  type Asset,
  AssetQueryDto,
  AssetsService,
  CLASSIFICATIONS,
  categoryOf,
} from '#libs/inventory';
import { type AssetId, type HistoryEntry, assetId, isUuid, newestOf } from '#libs/kernel';
import { Paging } from '#libs/platform/pagination';
import type { Request, Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { csvLine } from '../domain/csv';
import { Access, Me } from './access.decorator';
import { Downloads } from './downloads';
import { downloadAddress, listQuery, nextPage } from './list-query';
import { sendPage } from './page';

const RESOURCE = 'assets';
const PAGE_SIZE = 50;
const HISTORY = 50;
const COLUMNS = [
  ...['id', 'name', 'type', 'classification', 'description', 'owner', 'ownerEmail', 'ownerSource', 'tags', 'source'],
  ...['externalId', 'accountId', 'region', 'serialNumber', 'operatingSystem', 'osVersion', 'email', 'createdAt'],
  'updatedAt',
];
/** What the history of an asset tells of each state. */
const TOLD = ['name', 'ownerId', 'description', 'classification', 'tags'] as const;

@Controller('inventory')
@Access('viewer')
export class InventoryController {
  constructor(
    private readonly assets: AssetsService,
    private readonly paging: Paging,
    private readonly downloads: Downloads,
  ) {}

  @Get()
  async list(@Me() { workspaceId }: SignedIn, @Req() request: Request, @Res() response: Response): Promise<void> {
    const query = await listQuery(AssetQueryDto, request, response);
    if (!query) return;
    const { page, filters, texts } = this.paging.request(workspaceId, RESOURCE, query, response, {
      defaultSize: PAGE_SIZE,
    });
    const found = await this.assets.list(newestOf(workspaceId), filters, page, 'owner');
    const { endCursor, totalCount } = this.paging.pageInfo(response, workspaceId, RESOURCE, found, texts);
    response.removeHeader('Link');
    sendPage(response, 'inventory', {
      ...{ title: 'Inventory', assets: found.items, totalCount, typed: texts, next: nextPage(request, endCursor) },
      download: downloadAddress(request),
      ...{ categories: ASSET_CATEGORIES, classifications: CLASSIFICATIONS },
    });
  }

  @Get('download')
  async download(@Me() me: SignedIn, @Req() request: Request, @Res() response: Response): Promise<void> {
    const query = await listQuery(AssetQueryDto, request, response);
    if (!query) return;
    const { filters } = this.paging.request(me.workspaceId, RESOURCE, query, response);
    await this.downloads.send(me, response, {
      ...{ name: 'inventory.csv', mediaType: 'text/csv; charset=utf-8', head: csvLine(COLUMNS) },
      target: { type: 'INVENTORY', id: RESOURCE },
      reader: this.assets.reader(me.workspaceId, filters, 'owner'),
      line: (one) =>
        csvLine([
          ...[one.id, one.name, one.type, one.classification, one.description, one.owner?.name, one.owner?.email],
          ...[one.ownerSource, one.tags.map(({ key }) => key).join(' '), one.source, one.externalId, one.accountId],
          ...[
            one.region,
            one.serialNumber,
            one.operatingSystem,
            one.osVersion,
            one.email,
            one.createdAt,
            one.updatedAt,
          ],
        ]),
    });
  }

  @Get(':id')
  async show(
    @Me() { workspaceId }: SignedIn,
    @Param() { id }: { id: string },
    @Res() response: Response,
  ): Promise<void> {
    const wanted = idOf(id);
    const scope = newestOf(workspaceId);
    const [asset, history] = await Promise.all([
      this.assets.get(scope, wanted, { expand: 'owner' }),
      this.assets.history(scope, wanted, { size: HISTORY, after: null }),
    ]);
    const category = ASSET_CATEGORIES.find(({ key }) => key === categoryOf(asset.type));
    sendPage(response, 'asset', { title: asset.name, asset, category, history: history.items.map(toldOf) });
  }
}

/** An address with anything but an id leads nowhere. */
export function idOf(text: string): AssetId {
  if (!isUuid(text)) throw new NotFoundException();
  return assetId(text);
}

/** What a change made of the state before. */
function toldOf({ validFrom, origin, item, before }: HistoryEntry<Asset>) {
  const changes = TOLD.flatMap((field) => {
    const [old, fresh] = [textOf(before?.[field]), textOf(item?.[field])];
    return item && before && old !== fresh ? [{ field, old, fresh }] : [];
  });
  const what = item === null ? 'hidden or deleted' : before === null ? 'visible' : 'changed';
  return { validFrom, what, changes, origin: originText(origin) };
}

function originText(origin: HistoryEntry<Asset>['origin']): string {
  if (origin === null) return 'unknown';
  return origin.type === 'API' ? `application ${origin.clientId}` : origin.type === 'IMPORT' ? 'import' : 'operator';
}

const textOf = (value: Asset[(typeof TOLD)[number]] | undefined): string =>
  typeof value === 'string' ? value : (value ?? []).map(({ key }) => key).join(', ');
