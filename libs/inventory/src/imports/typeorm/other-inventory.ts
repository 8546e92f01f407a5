import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { DEMO_SOURCES } from '../domain/demo-exports';
import { DEMO_TAG_KEYS } from '../domain/demo-inventory';

/**
 * Probes the unique index of sources, so a workspace of any size is quick: before, between and behind the sources of the
 * demo. $1 workspace, $2 sources, $3 tag keys.
 */
const HOLDS_OTHER = `
  WITH gap AS (
    SELECT lag(source) OVER places AS low, source AS high FROM unnest($2::text[]) AS own (source) WINDOW places AS (ORDER BY source)
  )
  SELECT EXISTS (SELECT FROM gap WHERE low IS NULL AND EXISTS (SELECT FROM asset WHERE workspace_id = $1 AND source < high))
      OR EXISTS (SELECT FROM gap WHERE EXISTS (SELECT FROM asset WHERE workspace_id = $1 AND source > low AND source < high))
      OR EXISTS (SELECT FROM asset WHERE workspace_id = $1 AND source > (SELECT max(source) FROM unnest($2::text[]) AS own (source)))
      OR EXISTS (SELECT FROM import_run WHERE workspace_id = $1 AND source <> ALL ($2))
      OR (NOT EXISTS (SELECT FROM asset WHERE workspace_id = $1 AND source = ANY ($2))
          AND EXISTS (SELECT FROM tag_key WHERE workspace_id = $1 AND key <> ALL ($3))) AS other`;

/** Keeps the demo out of workspaces that are in use. */
@Injectable()
export class OtherInventory {
  constructor(private readonly database: Database) {}

  /**
   * Tells whether the workspace has assets or imports of other sources than the demo's, or tag keys of its own before the
   * demo came.
   */
  async exists(workspaceId: WorkspaceId): Promise<boolean> {
    const keys = DEMO_TAG_KEYS.map(({ key }) => key);
    const [row] = await this.database.inTenant({ workspaceId }, (manager) =>
      manager.query<{ other: boolean }[]>(HOLDS_OTHER, [workspaceId, DEMO_SOURCES, keys]),
    );
    return row?.other ?? false;
  }
}
