import { Controller, Get, NotFoundException, Post, Res } from '@nestjs/common';
import {
  ASSET_CATEGORIES,
  ASSET_TYPES,
  type Asset,
  AssetQueryDto,
  AssetsService,
  CLASSIFICATIONS,
  categoryOf,
} from '#libs/inventory';
import { type HistoryEntry, newestOf } from '#libs/kernel';
import { MAX_PAGE_BYTES, Paging } from '#libs/platform/pagination';
import type { Response } from 'express';
import { csvLine } from '../domain/csv';
import { Access, Sent, type SentTo } from './access.decorator';
import { AssetFieldsDto, TickedAssetsDto } from './asset.dto';
import { AssetChanges, type AssetField, FIELDS } from './asset-changes';
import { Cookies } from './cookies';
import { Downloads } from './downloads';
import { listQuery, queryText, sendList } from './list-query';
import { type NameOf, Names, actorText } from './names';
import { sendPage } from './page';
import { idOf } from './path-id';
import { type Refused, orShowAgain, readFields, refuseFields } from './read-fields';

const RESOURCE = 'assets';
/** As many as can be ticked at once. */
const PAGE_SIZE = 100;
const PAGING = { defaultSize: PAGE_SIZE };
const HISTORY = { size: 100, after: null, mostBytes: MAX_PAGE_BYTES };
const COLUMNS = [
  ...['id', 'name', 'type', 'classification', 'description', 'owner', 'ownerEmail', 'ownerSource', 'tags', 'source'],
  ...['externalId', 'accountId', 'region', 'serialNumber', 'operatingSystem', 'osVersion', 'email', 'createdAt'],
  'updatedAt',
] as const;
/** Members that the history of an asset shows of each state. */
const TOLD = ['name', 'ownerId', 'description', 'classification', 'tags'] as const;

@Controller('inventory')
@Access('viewer')
export class InventoryController {
  constructor(
    private readonly assets: AssetsService,
    private readonly paging: Paging,
    private readonly downloads: Downloads,
    private readonly changes: AssetChanges,
    private readonly names: Names,
    private readonly cookies: Cookies,
  ) {}

  /** Shows the list as the query filters it. `refused` comes from {@link writeMany} alone. */
  @Get()
  async list(@Sent() { me }: Pick<SentTo, 'me'>, @Res() response: Response, refused?: Refused): Promise<void> {
    const { workspaceId } = me;
    const { req: request } = response;
    const content = {
      ...{ title: 'Inventory', categories: ASSET_CATEGORIES, types: ASSET_TYPES, classifications: CLASSIFICATIONS },
      ...{ query: queryText(request), notice: this.cookies.takeNotice(response) },
      ...{ status: refused?.status, ticked: refused ?? { errors: {}, typed: {} } },
    };
    const read = async () => {
      const query = await listQuery(AssetQueryDto, request);
      const { page, filters, texts } = this.paging.request(workspaceId, RESOURCE, query, response, PAGING);
      const found = await this.assets.list(newestOf(workspaceId), filters, page, 'owner');
      const { endCursor, totalCount } = this.paging.pageInfo(response, workspaceId, RESOURCE, found, texts);
      return { assets: found.items, totalCount, filters: texts, cursor: endCursor };
    };
    await sendList(response, 'inventory', content, read);
  }

  @Get('download')
  async download(@Sent() { me }: SentTo, @Res() response: Response): Promise<void> {
    const query = await listQuery(AssetQueryDto, response.req);
    const { filters } = this.paging.request(me.workspaceId, RESOURCE, query, response);
    await this.downloads.send(me, response, {
      ...{ name: `${RESOURCE}.csv`, mediaType: 'text/csv; charset=utf-8', head: csvLine(COLUMNS) },
      reader: await this.assets.reader(me.workspaceId, filters, { expand: 'owner' }),
      line: ({ owner, tags, ...one }) => {
        const keys = tags.map(({ key }) => key).join(' ');
        const row = { ...one, owner: owner?.name, ownerEmail: owner?.email, tags: keys };
        return csvLine(COLUMNS.map((column) => row[column]));
      },
    });
  }

  @Post('ticked/:field')
  @Access('admin')
  async writeMany(@Sent() { me, field, body }: SentTo<'field'>, @Res() response: Response): Promise<void> {
    const { req: request } = response;
    const wanted = ['owner', 'classification'].find((one) => one === field) as AssetField | undefined;
    if (!wanted) throw new NotFoundException();
    const change = async (): Promise<void> => {
      const { length } = [body['ids'] ?? []].flat();
      refuseFields({ ids: (length === 0 || length > PAGE_SIZE) && 'Tick 1 to 100 assets first.' });
      const fields = await readFields(TickedAssetsDto, body);
      const isOwnerMissing = wanted === 'owner' && fields.owner === undefined && fields.ownerId === undefined;
      refuseFields({ owner: isOwnerMissing && 'Write a part of the name or e-mail address.' });
      const updated = await this.changes.update(me, fields.ids, wanted, fields);
      const rest = updated < fields.ids.length ? ' The rest is not there any more.' : '';
      const have = `${updated} of ${fields.ids.length} ticked assets have the new ${wanted} now.`;
      this.cookies.leaveNotice(response, have + rest);
      response.redirect(303, `/inventory${queryText(request)}`);
    };
    await orShowAgain(body, change, (refused) => this.list({ me }, response, refused));
  }

  /** `refused` comes from {@link write} alone. */
  @Get(':id')
  async show(@Sent() sent: SentTo<'id'>, @Res() response: Response, refused?: Refused): Promise<void> {
    const [id, scope] = [idOf(sent.id), newestOf(sent.me.workspaceId)];
    const [asset, history] = await Promise.all([
      this.assets.get(scope, id, { expand: 'owner' }),
      this.assets.history(scope, id, HISTORY),
    ]);
    const owners = history.items.flatMap(({ item, before }) => [item?.ownerId, before?.ownerId]);
    const authors = history.items.flatMap(({ origin, who }) => [...Object.values(origin ?? {}), who]);
    const nameOf = await this.names.of(sent.me.workspaceId, [...owners, ...authors]);
    const { description, classification, owner } = asset;
    const tags = asset.tags.flatMap(({ key, readOnly }) => (readOnly ? [] : key)).join('\n');
    const typed = { description, classification, tags, owner: owner?.email ?? owner?.name, ...refused?.typed };
    // A form that is refused for its text stays one for the asset as its person saw it.
    const version = refused?.status === 400 ? refused.typed['version'] : asset.version;
    const content = {
      ...{ title: asset.name, asset, version, states: history.totalCount },
      classifications: CLASSIFICATIONS,
      category: ASSET_CATEGORIES.find(({ key }) => key === categoryOf(asset.type)),
      history: history.items.map((entry) => toldOf(entry, nameOf)),
    };
    sendPage(response, 'asset', { ...content, ...refused, typed });
  }

  @Post(':id/:field')
  @Access('admin')
  async write(@Sent() sent: SentTo<'id' | 'field'>, @Res() response: Response): Promise<void> {
    const { me, id, field, body } = sent;
    const wanted = FIELDS.find((one) => one === field);
    if (!wanted) throw new NotFoundException();
    const change = async (): Promise<void> => {
      const fields = await readFields(AssetFieldsDto, body);
      // An empty text takes the owner away. The page of several employees sends none.
      const isNobodyChosen = wanted === 'owner' && body['owner'] === undefined && fields.ownerId === undefined;
      refuseFields({ owner: isNobodyChosen && 'Choose an employee.' });
      // Nobody chooses an owner for an asset that is not there.
      const asset = await this.assets.get(newestOf(me.workspaceId), idOf(id), {});
      await this.changes.update(me, [asset.id], wanted, fields);
      response.redirect(303, `/inventory/${id}`);
    };
    await orShowAgain(body, change, (refused) => this.show(sent, response, refused));
  }
}

/** Describes a change by the state before it and the state after it. */
function toldOf({ validFrom, origin, who, item, before }: HistoryEntry<Asset>, nameOf: NameOf) {
  const changes = TOLD.flatMap((field) => {
    const [old, fresh] = [textOf(before?.[field]), textOf(item?.[field])];
    if (!item || !before || old === fresh) return [];
    if (field !== 'ownerId') return [{ field, old, fresh }];
    return [{ field: 'owner', old: nameOf.get(old) ?? old, fresh: nameOf.get(fresh) ?? fresh }];
  });
  const what = item === null ? 'hidden or deleted' : before === null ? 'visible' : 'changed';
  return { validFrom, what, changes, by: byText({ origin, who }, nameOf) };
}

function byText({ origin, who }: Pick<HistoryEntry<Asset>, 'origin' | 'who'>, nameOf: NameOf) {
  // The release before records each of its changes as an operator's without a name.
  if (origin === null || (origin.type === 'OPERATOR' && who === null)) return 'unknown';
  return actorText(origin.type, origin.type === 'API' ? origin.clientId : null, who, nameOf);
}

const textOf = (value: Asset[(typeof TOLD)[number]] | undefined): string =>
  typeof value === 'string' ? value : (value ?? []).map(({ key }) => key).join(', ');
