import { randomUUID } from 'node:crypto';
import type { ApiResponse, ApiClient } from '../support/api-client';
import type { ArrangedApplication } from '../support/arrangement';
import { type TestApp, startApp, startInstance } from '../support/start-app';

const path = (id: string): string => `/v1/inventory/assets/${id}`;
const key = () => ({ 'Idempotency-Key': randomUUID() });
const isReplay = ({ headers }: ApiResponse): boolean => headers.get('idempotent-replayed') === 'true';
const statuses = (responses: readonly ApiResponse[]): number[] => responses.map(({ status }) => status).sort();

/** A key was used on both instances, and its record has changed since. */
describe('Idempotency-Key on two instances', () => {
  let first: TestApp;
  let second: TestApp;
  let workspace: string;
  let client: ApiClient;
  let elsewhere: ApiClient;
  beforeAll(async () => {
    first = await startApp();
    second = await startInstance(first);
    workspace = await first.arrange.aWorkspace();
    const token = await first.arrange.aToken(workspace);
    [client, elsewhere] = [first.client(token), second.client(token)];
  });
  afterAll(async () => {
    await second.stop();
    await first.stop();
  });

  const anAsset = async (): Promise<string> => (await first.arrange.anAsset(workspace)).id;
  const auditRows = async (id: string): Promise<number> =>
    (await first.database.admin.query('SELECT 1 FROM audit_event WHERE asset_id = $1', [id])).rows.length;
  /** An update that both instances answered. */
  const succeeded = async (id: string, description: string): Promise<Record<string, string>> => {
    const known = key();
    const responses = [
      await client.patch(path(id), { description }, known),
      await elsewhere.patch(path(id), { description }, known),
    ];
    expect(responses.map(isReplay)).toEqual([false, true]);
    return known;
  };
  const sendAtOnce = (
    id: string,
    descriptions: readonly string[],
    known: Record<string, string>,
  ): Promise<ApiResponse[]> =>
    Promise.all(
      descriptions.map((description, index) =>
        (index % 2 === 0 ? client : elsewhere).patch(path(id), { description }, known),
      ),
    );

  it('applies once more when a promoted standby or a backup lacks the record, then replays', async () => {
    const id = await anAsset();
    const known = await succeeded(id, 'lost');
    await first.arrange.change(workspace, 'DELETE FROM idempotency_record WHERE workspace_id = $1', [workspace]);
    await first.arrange.change(workspace, 'UPDATE asset SET description = NULL WHERE public_id = $1', [id]);
    const responses = await sendAtOnce(
      id,
      Array.from({ length: 12 }, () => 'lost'),
      known,
    );
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses.filter((response) => !isReplay(response))).toHaveLength(1);
    expect([(await client.get(path(id))).body['description'], await auditRows(id)]).toEqual(['lost', 2]);
  });

  it.each([
    ['before the purge', `UPDATE idempotency_record SET expires_at = now() - interval '1 second'`],
    ['after it', 'DELETE FROM idempotency_record'],
  ])('accepts any request once its record has expired, %s, then only that one', async (_, die) => {
    const id = await anAsset();
    const known = await succeeded(id, 'before');
    await first.arrange.change(workspace, `${die} WHERE workspace_id = $1`, [workspace]);
    const responses = await sendAtOnce(id, ['a', 'a', 'b', 'b', 'c', 'c'], known);
    expect(statuses(responses)).toEqual([200, 200, 409, 409, 409, 409]);
    const [one, other] = responses.filter(({ status }) => status === 200);
    expect([one?.text, [one, other].filter((response) => response && isReplay(response)).length]).toEqual([
      other?.text,
      1,
    ]);
    expect(await auditRows(id)).toBe(2);
    expect((await client.patch(path(id), { description: 'before' }, known)).status).toBe(409);
  });

  describe('is separate for each application', () => {
    const tokenOf = async ({ clientId, clientSecret }: ArrangedApplication): Promise<string> => {
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
      return (await first.client().requestToken(form)).body['access_token'] as string;
    };

    it('in the same workspace, for the same request', async () => {
      const id = await anAsset();
      const known = await succeeded(id, 'same');
      const another = await first.arrange.aClient(workspace);
      const response = await another.patch(path(id), { description: 'other' }, known);
      expect([response.status, isReplay(response), response.body['description']]).toEqual([200, false, 'other']);
      expect((await client.patch(path(id), { description: 'same' }, known)).body['description']).toBe('same');
    });

    it('while the first request of the other application waits, on either instance', async () => {
      const [locked, id] = [await anAsset(), await anAsset()];
      const same = key();
      const tokens = [await first.arrange.aToken(workspace), await first.arrange.aToken(workspace)];
      const { admin } = first.database;
      await admin.query('BEGIN');
      await admin.query('SELECT 1 FROM asset WHERE public_id = $1 FOR UPDATE', [locked]);
      const waiting = client.patch(path(locked), { description: 'waits' }, same);
      await lockIsWaitedFor();
      const others = [first.client(tokens[0]), second.client(tokens[1])];
      const responses: ApiResponse[] = [];
      for (const other of others) responses.push(await other.patch(path(id), { description: 'goes on' }, same));
      await admin.query('COMMIT');
      expect([statuses(responses), (await waiting).status]).toEqual([[200, 200], 200]);
    });

    it('is not replayed for a disabled application or one without the scope', async () => {
      const id = await anAsset();
      const application = await first.arrange.anApplication(workspace);
      const token = await tokenOf(application);
      const known = key();
      const send = (as = token) => first.client(as).patch(path(id), { description: 'mine' }, known);
      const original = await send();
      const { admin } = first.database;
      const set = (columns: string) =>
        admin.query(`UPDATE application SET ${columns} WHERE client_id = $1`, [application.clientId]);
      await set(`scopes = '{inventory:read}'`);
      expect((await send()).status).toBe(403);
      await set(`scopes = '{all:write}', disabled = true`);
      expect((await send()).status).toBe(401);
      await set('disabled = false');
      const replays = [await send(), await send(await tokenOf(application))];
      expect(replays.map((again) => [again.text, isReplay(again)])).toEqual(replays.map(() => [original.text, true]));
      expect((await send()).body['code']).toBe('token_superseded');
    });
  });

  async function lockIsWaitedFor(): Promise<void> {
    const { admin } = first.database;
    for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
      // Within a transaction, statistics would stay unchanged.
      await admin.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await admin.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      if (rows.length > 0) return;
    }
    throw new Error('nobody waits');
  }
});
