import type { WorkspaceId } from '#libs/kernel';
import type { PoolClient } from 'pg';
import type { NumberedRecord } from '../domain/import-store.port';
import type { KnownTagKey } from './import-rows';

interface TagKeyRow extends KnownTagKey {
  readonly key: string;
}

/** The tag keys of a workspace while an import runs: looked up once, and again after a rollback. */
export class ImportTagKeys {
  private known: Map<string, KnownTagKey> | null = null;

  constructor(
    private readonly client: PoolClient,
    private readonly workspaceId: WorkspaceId,
    private readonly createMissing: boolean,
  ) {}

  /** What was made in a transaction that was rolled back is not there. */
  forget(): void {
    this.known = null;
  }

  /** The keys of the workspace, with those of the batch made where that is wanted. Within a transaction. */
  async lookUp(batch: readonly NumberedRecord[]): Promise<ReadonlyMap<string, KnownTagKey>> {
    const known = (this.known ??= await this.readAll());
    if (!this.createMissing) return known;
    const missing = new Set(
      batch.flatMap(({ record }) => record.tags.map(({ key }) => key)).filter((key) => !known.has(key)),
    );
    if (missing.size > 0) {
      await this.client.query(
        'INSERT INTO tag_key (workspace_id, key, platform) SELECT $1, key, true FROM unnest($2::text[]) AS key ON CONFLICT DO NOTHING',
        [this.workspaceId, [...missing]],
      );
      this.known = await this.readAll();
    }
    return this.known;
  }

  private async readAll(): Promise<Map<string, KnownTagKey>> {
    const { rows } = await this.client.query<TagKeyRow>(
      'SELECT key, id, value, platform FROM tag_key WHERE workspace_id = $1',
      [this.workspaceId],
    );
    return new Map(rows.map(({ key, ...tagKey }) => [key, tagKey]));
  }
}
