import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TOKEN_KEYS, removeKey } from '#libs/platform/keys';
import type { ArrangedApplication } from '../support/arrangement';
import { decodeProtectedHeader } from '../support/jwt';
import { type TestOperator, openOperator } from '../support/operator';
import { putKey } from '../support/put-key';
import { type TestApp, startApp } from '../support/start-app';
import { StreamReader } from '../support/stream-reader';

const ASSETS = '/v1/inventory/assets';
const COMPUTERS = '/v1/computers';
/** More than the buffers of a connection take, so that a stream that nobody reads goes on. */
const ENDLESS = { rows: 30_000, descriptionLength: 400 };
/** Longer than the API takes to notice that access was withdrawn. */
const NOTICED_MS = 6_000;

describe('A long stream', () => {
  let signingKeysDir: string;
  let app: TestApp;
  let operator: TestOperator;
  let workspace: string;
  let application: ArrangedApplication;
  let token: string;
  let reader: StreamReader | undefined;

  beforeAll(async () => {
    signingKeysDir = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    for (const hoursAgo of [2, 1]) await putKey(TOKEN_KEYS, signingKeysDir, Date.now() - hoursAgo * 3_600_000);
    app = await startApp({ SIGNING_KEYS_DIR: signingKeysDir });
    operator = await openOperator(app);
    workspace = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(workspace, ENDLESS.rows, ENDLESS.descriptionLength, 'COMPUTER');
  });
  afterAll(async () => {
    await operator.close();
    await app.stop();
    rmSync(signingKeysDir, { recursive: true });
  });
  beforeEach(async () => {
    application = await app.arrange.anApplication(workspace, ['inventory:read', 'computers:read']);
    token = await newToken();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    reader?.leave();
  });

  const newToken = async (clientSecret = application.clientSecret): Promise<string> => {
    const { body } = await app.client().requestToken({
      grant_type: 'client_credentials',
      client_id: application.clientId,
      client_secret: clientSecret,
    });
    return body['access_token'] as string;
  };
  /** Opens a stream that nobody reads. */
  const open = async (path = ASSETS): Promise<string> => {
    reader = await StreamReader.open(app.origin, path, token);
    reader.response.pause();
    return reader.response.headers['x-request-id'] as string;
  };
  const outcomeOf = (requestId: string): unknown =>
    app.logLines.find((line) => line['requestId'] === requestId && line['message'] === 'stream cut')?.['outcome'];
  const outcomeWithin = async (milliseconds: number, requestId: string): Promise<unknown> => {
    for (const deadline = Date.now() + milliseconds; Date.now() < deadline; await delay(50)) {
      const outcome = outcomeOf(requestId);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  };
  const expectNoEnd = async (): Promise<void> => {
    const { lines, isWhole } = await (reader as StreamReader).read();
    expect(isWhole).toBe(false);
    expect(lines.filter(({ type }) => type === 'end')).toEqual([]);
  };

  it('is cut soon after its application was disabled', async () => {
    const requestId = await open();

    await operator.applications.setDisabled(application.clientId, true);

    expect(await outcomeWithin(NOTICED_MS, requestId)).toBe('withdrawn');
    await expectNoEnd();
  });

  it.each([
    [ASSETS, 'computers:read'],
    [COMPUTERS, 'inventory:read'],
    [`${COMPUTERS}?expand=owner`, 'computers:read'],
  ] as const)('of %s is cut soon after its application kept only %s', async (path, kept) => {
    const requestId = await open(path);

    await operator.applications.setScopes(application.clientId, [kept]);

    expect(await outcomeWithin(NOTICED_MS, requestId)).toBe('withdrawn');
    await expectNoEnd();
  });

  it('is cut soon after the secret was rotated, and its owner may begin another', async () => {
    const requestId = await open();

    const rotated = await operator.applications.rotateSecret(application.clientId, null);
    token = await newToken(rotated?.clientSecret);

    expect(await outcomeWithin(NOTICED_MS, requestId)).toBe('withdrawn');
    await expectNoEnd();
    await open();
    expect(reader?.response.statusCode).toBe(200);
  });

  it('of the past is cut when the history no longer reaches so far', async () => {
    const { rows } = await app.database.admin.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const requestId = await open(`${ASSETS}?asOf=${rows[0]?.now.toISOString()}`);

    const move = 'UPDATE workspace SET history_begins_at = clock_timestamp() WHERE id = $1';
    await app.arrange.change(workspace, move, [workspace]);

    await expectNoEnd();
    expect(outcomeOf(requestId)).toBe('failed');
  });

  it('is cut soon after the key that signed its token was removed', async () => {
    const requestId = await open();

    await removeKey(TOKEN_KEYS, signingKeysDir, decodeProtectedHeader(token)['kid'] as string);

    expect(await outcomeWithin(NOTICED_MS, requestId)).toBe('withdrawn');
    await expectNoEnd();
  });

  it('goes on when the secret is rotated with an overlap', async () => {
    const requestId = await open();

    await operator.applications.rotateSecret(application.clientId, 60);

    expect(await outcomeWithin(NOTICED_MS, requestId)).toBeUndefined();
  });

  it('is cut soon after the old secret that obtained its token was ended, even when a newer token lives', async () => {
    const requestId = await open();
    const rotated = await operator.applications.rotateSecret(application.clientId, 60);
    await newToken(rotated?.clientSecret);

    await operator.applications.endOldSecret(application.clientId);

    expect(await outcomeWithin(NOTICED_MS, requestId)).toBe('withdrawn');
    await expectNoEnd();
  });

  it('goes on when the old secret is ended and the current one obtained its token', async () => {
    const rotated = await operator.applications.rotateSecret(application.clientId, 60);
    await newToken();
    token = await newToken(rotated?.clientSecret);
    const requestId = await open();

    await operator.applications.endOldSecret(application.clientId);

    expect(await outcomeWithin(NOTICED_MS, requestId)).toBeUndefined();
  });

  it('goes on when its token is replaced and its application loses another scope', async () => {
    const requestId = await open();

    await newToken();
    await operator.applications.setScopes(application.clientId, ['all:read']);
    await operator.applications.setScopes(application.clientId, ['inventory:read']);

    expect(await outcomeWithin(NOTICED_MS, requestId)).toBeUndefined();
  });

  it('is cut after 30 minutes', async () => {
    const { setTimeout: schedule } = globalThis;
    const shortened = ((work: () => void, milliseconds: number) =>
      schedule(work, milliseconds === 30 * 60_000 ? 1_000 : milliseconds)) as typeof setTimeout;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(shortened);
    const requestId = await open();

    expect(await outcomeWithin(5_000, requestId)).toBe('too_long');
    await expectNoEnd();
  });

  it('keeps no snapshot, which would hold back vacuum', async () => {
    await open();

    const holders = `
      SELECT state, query FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL`;
    let holding: unknown[] = [];
    for (const deadline = Date.now() + 3_000; Date.now() < deadline; await delay(100)) {
      holding = (await app.database.admin.query(holders)).rows;
      if (holding.length === 0) break;
    }
    expect(holding).toEqual([]);
  });
});
