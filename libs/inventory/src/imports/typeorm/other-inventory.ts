import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { DEMO_SOURCES } from '../domain/demo-exports';
import { DEMO_TAG_KEYS } from '../domain/demo-inventory';

/** $1 workspace, $2 sources and $3 tag keys of the demo. */
const HOLDS_OTHER = `
  SELECT EXISTS (SELECT FROM inventory_sources($1) WHERE id <> ALL ($2))
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
