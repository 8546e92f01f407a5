import * as sql from './missing-statements';
import type { StagingConnection } from './staging-connection';

/** One page of a source's assets. */
export interface AssetPage {
  /** The last id of the page. Null at the end. */
  readonly last: string | null;
  /** Assets of the page that the input did not name, or that were rekeyed. */
  readonly found: number;
}

/** Remembers which assets the input names, and finds the others of the source. */
export class MissingAssets {
  constructor(private readonly connection: StagingConnection) {}

  /** Remembers the ids of the batch that is staged, and these. */
  async nameStagedAnd(externalIds: readonly string[]): Promise<void> {
    await this.connection.client.query(sql.NAME_STAGED, [externalIds]);
  }

  async indexNames(): Promise<void> {
    await this.connection.client.query(sql.INDEX_NAMES);
  }

  /** Counts the next ones after this id. */
  async count(after: string): Promise<AssetPage> {
    const { workspaceId, source } = this.connection;
    return this.connection.row<AssetPage>(sql.COUNT_MISSING, [workspaceId, source, after]);
  }

  /** Hides them. */
  async hide(after: string): Promise<AssetPage> {
    const { workspaceId, source, changeSetId } = this.connection;
    const page = await this.connection.row<AssetPage>(sql.HIDE_MISSING, [workspaceId, source, after, changeSetId]);
    this.connection.noteChange(page.found > 0);
    return page;
  }
}
