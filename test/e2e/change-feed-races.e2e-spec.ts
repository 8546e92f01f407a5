import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';
import { StreamReader, itemsOf } from '../support/stream-reader';

interface Change {
  readonly type: string;
  readonly id: string;
  readonly changedAt: string;
  readonly asset: { readonly name: string; readonly description: string | null } | null;
}
interface Feed {
  readonly results: Change[];
  readonly pageInfo: { readonly hasNextPage: boolean };
  readonly resumeCursor: string;
}

const ASSETS = 60;
const WRITING_MS = 4_000;

/** Keeps what a feed tells, as a client would. */
class Mirror {
  readonly assets = new Map<string, string>();

  apply({ id, asset }: Change): void {
    if (asset) this.assets.set(id, `${asset.name} ${asset.description}`);
    else this.assets.delete(id);
  }

  get sorted(): string[][] {
    return [...this.assets].sort(([first], [second]) => (first < second ? -1 : 1));
  }
}

interface LoadedMirror {
  readonly mirror: Mirror;
  /** Where the feed goes on. */
  readonly cursor: string;
}

describe('A reader of a change feed during concurrent writes', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  let ids: string[];

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    ids = await app.arrange.manyAssets(workspace, ASSETS);
  });
  afterAll(() => app.stop());

  const any = (): string => ids[Math.floor(Math.random() * ids.length)] as string;
  const page = async (query: string): Promise<Feed> => {
    const response = await client.get(`/v1/inventory/changes?${query}`);
    expect(response.status).toBe(200);
    return response.body as unknown as Feed;
  };

  async function writeByApi(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const key = { 'Idempotency-Key': randomUUID() };
      const patch = { description: randomUUID() };
      const bulk = [...new Set([any(), any(), any()])];
      const response = await (Math.random() < 0.5
        ? client.patch(`/v1/inventory/assets/${any()}`, patch, key)
        : client.patch('/v1/inventory/assets', { ids: bulk, patch }, key));
      expect([200, 404]).toContain(response.status);
    }
  }

  /** Transactions of the release before: they stay open for any time, and know nothing of tickets. */
  async function writeBySql(goesOn: () => boolean): Promise<void> {
    const writer = new Client({ connectionString: app.database.databaseUrl });
    await writer.connect();
    await writer.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
    while (goesOn()) {
      await writer.query('BEGIN');
      const description = randomUUID();
      const change =
        'UPDATE asset SET description = $1, version = version + 1 WHERE workspace_id = $2 AND public_id = $3';
      await writer.query(change, [description, workspace, any()]);
      await delay(Math.random() * 60);
      await writer.query(Math.random() < 0.8 ? 'COMMIT' : 'ROLLBACK');
    }
    await writer.end();
  }

  async function hideAndShow(goesOn: () => boolean): Promise<void> {
    const change = `
      UPDATE asset SET visibility = 1 - visibility, version = version + 1
       WHERE workspace_id = $1 AND public_id = ANY ($2::uuid[])`;
    while (goesOn()) {
      await app.arrange.change(workspace, change, [workspace, [any()]]);
      await delay(Math.random() * 20);
    }
  }

  async function followCursor(isOver: () => boolean, mirror = new Mirror(), cursor?: string): Promise<Mirror> {
    let query = cursor === undefined ? 'pageSize=7' : `pageSize=7&pageCursor=${cursor}`;
    for (;;) {
      const isLast = isOver();
      let feed: Feed;
      do {
        feed = await page(query);
        feed.results.forEach((change) => mirror.apply(change));
        query = `pageSize=7&pageCursor=${feed.resumeCursor}`;
      } while (feed.pageInfo.hasNextPage);
      if (isLast) return mirror;
    }
  }

  /** Keeps no cursor: asks for what changed since the greatest time it saw. */
  async function followTime(isOver: () => boolean): Promise<Mirror> {
    const mirror = new Mirror();
    let since = '2000-01-01T00:00:00Z';
    for (;;) {
      const isLast = isOver();
      const { results } = await page(`pageSize=1000&since=${since}`);
      for (const change of results) {
        mirror.apply(change);
        if (Date.parse(change.changedAt) > Date.parse(since)) since = change.changedAt;
      }
      if (isLast) return mirror;
    }
  }

  /** Loads the inventory by streams, one after the other, each for a reader of its own. */
  async function loadByStreams(goesOn: () => boolean, loaded: LoadedMirror[]): Promise<void> {
    const token = await app.arrange.aToken(workspace);
    while (goesOn()) {
      const { lines } = await (await StreamReader.open(app.origin, '/v1/inventory/assets', token)).read();
      const [start] = lines;
      if (start?.type !== 'start') continue;
      const mirror = new Mirror();
      for (const asset of itemsOf(lines, 'asset')) mirror.apply({ id: asset['id'], asset } as unknown as Change);
      loaded.push({ mirror, cursor: String(start['resumeCursor']) });
      await delay(100);
    }
  }

  it('ends with the content of the table, by cursor or by time alone', async () => {
    const end = Date.now() + WRITING_MS;
    const loaded: LoadedMirror[] = [];
    const goesOn = (): boolean => Date.now() < end || loaded.length < 2;
    let isWritten = false;
    const writing = Promise.all([
      ...[1, 2, 3].map(() => writeByApi(goesOn)),
      ...[1, 2, 3].map(() => writeBySql(goesOn)),
      hideAndShow(goesOn),
      loadByStreams(goesOn, loaded),
    ]).finally(() => (isWritten = true));
    const [byCursor, byTime] = await Promise.all([followCursor(() => isWritten), followTime(() => isWritten), writing]);
    const byStream = await Promise.all(loaded.map(({ mirror, cursor }) => followCursor(() => true, mirror, cursor)));

    const { rows } = await app.database.admin.query<{ id: string; state: string }>(
      `SELECT public_id AS id, name || ' ' || coalesce(description, 'null') AS state FROM asset
        WHERE workspace_id = $1 AND facet IS NOT NULL ORDER BY public_id::text`,
      [workspace],
    );
    const table = rows.map(({ id, state }) => [id, state]);
    expect(byCursor.sorted).toEqual(table);
    expect(byTime.sorted).toEqual(table);
    for (const mirror of byStream) expect(mirror.sorted).toEqual(table);
  });
});
