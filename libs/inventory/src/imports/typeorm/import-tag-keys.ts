import type { ImportSettings } from '../domain/import-store.port';
import type { KnownTagKey } from './import-rows';
import type { StagingConnection } from './staging-connection';

interface TagKeyRow extends KnownTagKey {
  readonly key: string;
}

/** An import remembers every key of its workspace, of up to 1,000 characters each, so it creates no more. */
export const MOST_TAG_KEYS = 20_000;

const READ = 'SELECT key, id, value, platform FROM tag_key WHERE workspace_id = $1';
/** Returns the created keys only, so that each has one audit event. */
const CREATE = `
  INSERT INTO tag_key (workspace_id, key, platform) SELECT $1, key, true FROM unnest($2::text[]) AS key
  ON CONFLICT DO NOTHING RETURNING key`;

/** The tag keys of a workspace during an import: read once, and again after some were created or deleted. */
export class ImportTagKeys {
  private committed: ReadonlyMap<string, KnownTagKey> = new Map();
  /** Keys of a transaction that may still roll back. */
  private made: ReadonlyMap<string, KnownTagKey> | null = null;

  constructor(private readonly settings: ImportSettings) {}

  /** Committed keys, which no rollback removes. */
  get known(): ReadonlyMap<string, KnownTagKey> {
    return this.committed;
  }

  commit(): void {
    this.committed = this.made ?? this.committed;
    this.made = null;
  }

  rollback(): void {
    this.made = null;
  }

  /**
   * Returns the keys of the workspace. Creates and records the named ones first when the import allows it, until there are
   * {@link MOST_TAG_KEYS}; a dry run imagines them. Runs within a transaction.
   */
  async lookUp(connection: StagingConnection, keys: readonly string[]): Promise<ReadonlyMap<string, KnownTagKey>> {
    const room = Math.max(0, MOST_TAG_KEYS - this.committed.size);
    const missing = [...new Set(keys.filter((key) => !this.committed.has(key)))].slice(0, room);
    if (this.settings.createTagKeys === null || missing.length === 0) return this.committed;
    if (this.settings.dryRun) {
      this.made = new Map([...this.committed, ...missing.map((key) => [key, IMAGINED] as const)]);
      return this.made;
    }
    // In one order, so that imports of several sources cannot deadlock.
    const values = [connection.workspaceId, missing.sort()];
    const { rows: created } = await connection.client.query<{ key: string }>(CREATE, values);
    for (const { key } of created)
      await connection.record({ action: 'tag_key.created', target: { type: 'TAG_KEY', id: key } });
    return this.read(connection);
  }

  /** Runs within a transaction. */
  async read({ client, workspaceId }: StagingConnection): Promise<ReadonlyMap<string, KnownTagKey>> {
    const { rows } = await client.query<TagKeyRow>(READ, [workspaceId]);
    this.made = new Map(rows.map(({ key, ...tagKey }) => [key, tagKey]));
    return this.made;
  }
}

/** A key that a dry run would have created. Nothing looks at its id. */
const IMAGINED: KnownTagKey = { id: '0', value: null, platform: true };
