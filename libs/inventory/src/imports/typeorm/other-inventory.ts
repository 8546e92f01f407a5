import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { DEMO_SOURCE, DEMO_TAG_KEYS } from '../domain/demo-inventory';

/** Probes the unique index of sources, so a workspace of any size is quick. $1 workspace, $2 source, $3 tag keys. */
const HOLDS_OTHER = `
  SELECT EXISTS (SELECT FROM asset WHERE workspace_id = $1 AND source < $2)
      OR EXISTS (SELECT FROM asset WHERE workspace_id = $1 AND source > $2)
      OR (NOT EXISTS (SELECT FROM asset WHERE workspace_id = $1 AND source = $2)
          AND EXISTS (SELECT FROM tag_key WHERE workspace_id = $1 AND key <> ALL ($3))) AS other`;

/** Keeps the demo out of workspaces that are in use. */
@Injectable()
export class OtherInventory {
  constructor(private readonly database: Database) {}

  /** Tells whether the workspace has assets of another source, or tag keys of its own before the demo came. */
  async exists(workspaceId: WorkspaceId): Promise<boolean> {
    const keys = DEMO_TAG_KEYS.map(({ key }) => key);
    const [row] = await this.database.inTenant({ workspaceId }, (manager) =>
      manager.query<{ other: boolean }[]>(HOLDS_OTHER, [workspaceId, DEMO_SOURCE, keys]),
    );
    return row?.other ?? false;
  }
}
