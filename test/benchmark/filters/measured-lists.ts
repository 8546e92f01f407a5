import { type PageRequest, type WorkspaceId, newestOf } from '#libs/kernel';
import { ChangeFeed, History } from '#libs/platform/changes';
import { Database } from '#libs/platform/database';
import type { ComputerFilter } from '../../../libs/computers/src/domain/computer-filter';
import { ComputerDirectoryTypeorm } from '../../../libs/computers/src/typeorm/computer-directory.typeorm';
import type { AssetFilter } from '../../../libs/inventory/src/assets/domain/asset-filter';
import type { DemoSize } from '../../../libs/inventory/src/imports/domain/demo-inventory';
import { ASSET_FILTERS } from '../../support/asset-filters';
import { assetRepositoryOn } from '../../support/asset-repository';
import { COMPUTER_FILTERS } from '../../support/computer-filters';
import { buffersOf, explainComputers, explainPage } from '../../support/page-plan';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { ReadPage } from './depths';
import { ANY, type ExactValues, exactFilters } from './exact-filters';

/** A list with one filter, whose exact values differ from workspace to workspace. */
export interface MeasuredList {
  readonly subject: string;
  /** True for filters of the specification, whose cost never grows. What others cost grows with what they match. */
  readonly hasTarget: boolean;
  /** The filter of a list of assets, whose random pages are read over HTTP too. */
  readonly assetFilterOf?: (size: DemoSize) => AssetFilter;
  pagesOf(workspace: WorkspaceId, size: DemoSize): MeasuredPages;
}

export interface MeasuredPages {
  readonly read: ReadPage;
  readonly buffers: (page: PageRequest) => Promise<number>;
}

export function listsOfAssets({ api }: BenchmarkDatabase, values: ExactValues): MeasuredList[] {
  const repository = assetRepositoryOn(new Database(api));
  return [...ASSET_FILTERS, ...exactFilters()].map((filter) => ({
    subject: describeFilter(filter) || 'no filter',
    hasTarget: ASSET_FILTERS.includes(filter),
    assetFilterOf: (size) => values.fill(size, filter),
    pagesOf: (workspace, size) => {
      const filled = values.fill(size, filter);
      return {
        read: (page) => repository.list(newestOf(workspace), filled, page),
        buffers: async (page) => buffersOf(await explainPage(api, workspace, filled, page)),
      };
    },
  }));
}

export function listsOfComputers({ api }: BenchmarkDatabase, values: ExactValues): MeasuredList[] {
  const database = new Database(api);
  const directory = new ComputerDirectoryTypeorm(database, new ChangeFeed(database), new History(database));
  const exact = ['ownerId', 'serialNumber', 'externalId'].map((name) => ({ [name]: ANY }) as ComputerFilter);
  return [...COMPUTER_FILTERS, ...exact].map((filter) => ({
    subject: `computers: ${describeFilter(filter) || 'no filter'}`,
    hasTarget: Object.keys(filter).length === 0,
    pagesOf: (workspace, size) => {
      const filled = values.fill(size, filter);
      return {
        read: (page) => directory.list(newestOf(workspace), filled, page),
        buffers: async (page) => buffersOf(await explainComputers(api, workspace, filled, page)),
      };
    },
  }));
}

const describeFilter = (filter: object): string =>
  Object.entries(filter)
    .map(([name, value]: [string, unknown]) => `${name}=${value instanceof Date ? value.toISOString() : String(value)}`)
    .join(' ');
