import { Injectable } from '@nestjs/common';
import { RepeatedWork } from '#libs/platform/background';
import { Database, bind, prepared } from '#libs/platform/database';

const BATCH = 500;
/** Ten batches a minute: 300,000 sets an hour and instance. */
const PAUSE_MS = 6_000;
const MARK = prepared(
  'change_mark_empty',
  'SELECT workspace, after FROM mark_empty_change_sets($1::uuid, $2::bigint, $3::integer)',
);
/** Before the first set of any workspace. */
const START = ['00000000-0000-0000-0000-000000000000', '0'] as const;

/** Marks empty change sets of all workspaces while the instance serves, batch by batch and then from the start again. */
@Injectable()
export class EmptyChangeSets extends RepeatedWork {
  private position: readonly [workspace: string, sequence: string] = START;

  constructor(private readonly database: Database) {
    super(PAUSE_MS, 'empty change sets were not marked');
  }

  /** Looks at the next sets. After the last one it begins again. */
  async round(): Promise<void> {
    const values = [...this.position, String(BATCH)];
    const [rows] = await this.database.run({ outsideTenants: true }, [bind(MARK, values)]);
    const [workspace, sequence] = rows?.[0] ?? [];
    this.position = workspace && sequence ? [workspace, sequence] : START;
  }
}
