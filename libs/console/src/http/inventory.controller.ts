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
import { Access, Me } from './access.decorator';
import { listQuery, nextPage } from './list-query';
import { sendPage } from './page';

const RESOURCE = 'assets';
const PAGE_SIZE = 50;
const HISTORY = 50;
/** What the history of an asset tells of each state. */
const TOLD = ['name', 'ownerId', 'description', 'classification', 'tags'] as const;

@Controller('inventory')
@Access('viewer')
export class InventoryController {
  constructor(
    private readonly assets: AssetsService,
    private readonly paging: Paging,
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
      ...{ categories: ASSET_CATEGORIES, classifications: CLASSIFICATIONS },
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
