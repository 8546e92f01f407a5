import type { AuditAct, AuditRecorder } from '#libs/audit/operators';
import type { ImportRecord } from '../domain/import-record';
import type { ImportSettings } from '../domain/import-store.port';
import { type WorkspaceId, shown } from '#libs/kernel';
import type { PoolClient } from 'pg';
import type { KnownTagKey } from './import-rows';

interface TagKeyRow extends KnownTagKey {
  readonly key: string;
}

/** An import remembers every key of its workspace, of up to 1,000 characters each, so it creates no more. */
const MOST_TAG_KEYS = 20_000;

const READ = 'SELECT key, id, value, platform FROM tag_key WHERE workspace_id = $1';
/** Returns the created keys only, so that each has one audit event. */
const CREATE = `
  INSERT INTO tag_key (workspace_id, key, platform) SELECT $1, key, true FROM unnest($2::text[]) AS key
  ON CONFLICT DO NOTHING RETURNING key`;

const createdAct = (key: string): AuditAct => ({
  action: 'tag_key.created',
  actor: { type: 'IMPORT' },
  target: { type: 'TAG_KEY', id: key },
});

/** The tag keys of a workspace during an import: read once, and again after some were created or deleted. */
export class ImportTagKeys {
  private committed: ReadonlyMap<string, KnownTagKey> = new Map();
  /** Keys of a transaction that may still roll back. */
  private made: ReadonlyMap<string, KnownTagKey> | null = null;

  constructor(
    private readonly workspaceId: WorkspaceId,
    private readonly settings: ImportSettings,
    private readonly audit: AuditRecorder,
  ) {}

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
   * {@link MOST_TAG_KEYS}; a dry run imagines them. Runs within a transaction of the client.
   */
  async lookUp(client: PoolClient, keys: readonly string[]): Promise<ReadonlyMap<string, KnownTagKey>> {
    const room = Math.max(0, MOST_TAG_KEYS - this.committed.size);
    const missing = [...new Set(keys.filter((key) => !this.committed.has(key)))].slice(0, room);
    if (this.settings.createTagKeys === null || missing.length === 0) return this.committed;
    if (this.settings.dryRun) {
      this.made = new Map([...this.committed, ...missing.map((key) => [key, IMAGINED] as const)]);
      return this.made;
    }
    // In one order, so that imports of several sources cannot deadlock.
    const { rows: created } = await client.query<{ key: string }>(CREATE, [this.workspaceId, missing.sort()]);
    for (const { key } of created) {
      await this.audit.record(this.workspaceId, createdAct(key), (text, values) => client.query(text, values));
    }
    return this.read(client);
  }

  /** Runs within a transaction of the client. */
  async read(client: PoolClient): Promise<ReadonlyMap<string, KnownTagKey>> {
    const { rows } = await client.query<TagKeyRow>(READ, [this.workspaceId]);
    this.made = new Map(rows.map(({ key, ...tagKey }) => [key, tagKey]));
    return this.made;
  }
}

/** A key that a dry run would have created. Nothing looks at its id. */
const IMAGINED: KnownTagKey = { id: '0', value: null, platform: true };

/** Limits the length of the reason, however many keys a record has. */
const MOST_NAMED = 20;

/** Names keys, each in quotes. */
function namesOf(keys: readonly string[]): string {
  const named = keys.slice(0, MOST_NAMED).map((key) => JSON.stringify(shown(key)));
  const more = keys.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The reason for refusing a record with these keys. */
export function unknownTagKeys(keys: readonly string[]): { readonly reason: string; readonly withoutValues: string } {
  const which = namesOf(keys);
  const reason =
    keys.length === 1
      ? `tags: the key ${which} does not exist in the workspace.`
      : `tags: the keys ${which} do not exist in the workspace.`;
  return { reason, withoutValues: 'tags: a key does not exist in the workspace.' };
}

/** The warning about values that are not those of their customer keys. Null when there are none. */
export function lostTagValues(tags: ImportRecord['tags'], known: ReadonlyMap<string, KnownTagKey>): string | null {
  const lost = tags.filter(({ key, value }) => {
    const tagKey = known.get(key);
    return tagKey?.platform === false && value !== null && value !== '' && value !== tagKey.value;
  });
  const which = namesOf(lost.map(({ key }) => key));
  if (lost.length < 2)
    return lost.length === 0 ? null : `tags: the customer key ${which} has its own value; another was left out.`;
  return `tags: the customer keys ${which} have their own values; others were left out.`;
}
