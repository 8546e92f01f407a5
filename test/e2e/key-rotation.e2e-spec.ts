import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CHECKPOINT_KEYS,
  type DatedKey,
  KEY_KINDS,
  TOKEN_KEYS,
  listKeys,
  removeKey,
  rotateKey,
  usedFrom,
} from '#libs/platform/keys';
import { FakeClock } from '../../libs/kernel/src/clock.fake';
import { cursorKeyId } from '../../libs/platform/src/keys/cursor-keys';
import { type ApiResponse, ApiClient, type PageBody } from '../support/api-client';
import { ApiProcess } from '../support/api-process';
import { makeFifo } from '../support/fifo';
import { freePort } from '../support/free-port';
import type { ArrangedApplication } from '../support/arrangement';
import { decodeProtectedHeader } from '../support/jwt';
import { putKey } from '../support/put-key';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { type TestApp, startApp } from '../support/start-app';

const PATH = '/v1/inventory/assets';
const CURSOR_KEYS = KEY_KINDS.cursor;
const ASSETS = 4;
const UNLIMITED = '100000/100000';
/** Keys are read again every 2 s; a busy machine may take longer. */
const TAKEN_UP_MS = 15_000;
/**
 * Both keys are dated back so that this much of their minute is left. Instances load them in the first part, and know
 * them for 10 s before they use them.
 */
const LEFT_MS = TAKEN_UP_MS + 15_000;

const kidOfToken = (token: string) => decodeProtectedHeader(token)['kid'] as string;
const kidOfCursor = (cursor: string) => Buffer.from(cursor, 'base64url').subarray(1, 5).toString('hex');

/** A token or cursor that was issued between these times. */
interface Issued {
  readonly kid: string;
  readonly asked: number;
  readonly received: number;
}

describe('Keys shared by two instances', () => {
  let directory: string;
  let signingKeysDir: string;
  let oldSigning: string;
  let oldCursor: string;
  let app: TestApp;
  let application: ArrangedApplication;
  let origins: readonly string[];
  let management: ApiClient;
  /** Belongs to an application that requests no other token. */
  let heldToken: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    signingKeysDir = join(directory, 'signing');
    const anHourAgo = Date.now() - 3_600_000;
    mkdirSync(signingKeysDir);
    oldSigning = await putKey(TOKEN_KEYS, signingKeysDir, anHourAgo);
    oldCursor = await putKey(CURSOR_KEYS, signingKeysDir, anHourAgo);

    const common = { SIGNING_KEYS_DIR: signingKeysDir, REDIS_URL: redisOfTheRun() };
    app = await startApp(common);
    const [port, managementPort] = [await freePort(), await freePort()];
    const instance = new ApiProcess({
      ...common,
      DATABASE_URL: app.database.databaseUrl,
      LOCAL_DIR: app.settings.localDir,
      BASE_URL: app.settings.baseUrl,
      PORT: String(port),
      MANAGEMENT_PORT: String(managementPort),
      ...{ RATE_LIMIT_TOKEN: UNLIMITED, RATE_LIMIT_READ: UNLIMITED, RATE_LIMIT_WRITE: UNLIMITED },
    });
    await instance.serving();
    origins = [app.origin, `http://127.0.0.1:${port}`];
    management = ApiClient.ofManagement(`http://127.0.0.1:${managementPort}`);
    const workspace = await app.arrange.aWorkspace();
    for (let index = 0; index < ASSETS; index += 1) await app.arrange.anAsset(workspace);
    heldToken = await app.arrange.aToken(workspace);
    application = await app.arrange.anApplication(workspace);
  });
  afterAll(async () => {
    await ApiProcess.killAll();
    await app.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const published = async (): Promise<string[]> => {
    const { keys } = (await management.get('/jwks.json')).body as { keys: { kid: string; kty: string }[] };
    return keys.filter(({ kty }) => kty === 'RSA').map(({ kid }) => kid);
  };
  const aToken = async (origin: string): Promise<ApiResponse> =>
    new ApiClient(origin).requestToken({
      grant_type: 'client_credentials',
      client_id: application.clientId,
      client_secret: application.clientSecret,
    });
  const accepts = async (token: string): Promise<number[]> => {
    const asked = origins.map((origin) => new ApiClient(origin, token).get(PATH));
    return (await Promise.all(asked)).map(({ status }) => status);
  };
  const eventually = async (holds: () => Promise<boolean>): Promise<number> => {
    const from = performance.now();
    while (!(await holds())) {
      if (performance.now() - from > TAKEN_UP_MS) throw new Error('not taken up in time');
      await delay(50);
    }
    return performance.now() - from;
  };

  it('rotate while every request gets 200, because both load a key before one signs with it', async () => {
    const refused: string[] = [];
    const tokens: Issued[] = [];
    const cursors: Issued[] = [];
    const expectOk = (what: string, response: ApiResponse<unknown>) => {
      if (response.status !== 200) refused.push(`${what}: ${response.status} ${response.text}`);
    };
    let going = true;
    /** Requests a token from one instance and reads a list with it, alternating between the instances. */
    const client = async (): Promise<void> => {
      for (let turn = 0; going; turn += 1) {
        let asked = Date.now();
        const response = await aToken(origins[turn % 2] as string);
        expectOk('token', response);
        const token = String(response.body['access_token']);
        tokens.push({ kid: kidOfToken(token), asked, received: Date.now() });
        let cursor: string | null = null;
        for (let page = 1; page <= ASSETS; page += 1) {
          const query: string = new URLSearchParams({
            pageSize: '1',
            ...(cursor === null ? {} : { pageCursor: cursor }),
          }).toString();
          const origin = origins[(turn + page) % 2] as string;
          asked = Date.now();
          const walked: ApiResponse<PageBody> = await new ApiClient(origin, token).get<PageBody>(`${PATH}?${query}`);
          expectOk(`page ${page}`, walked);
          cursor = walked.body.pageInfo.endCursor;
          if (cursor !== null) cursors.push({ kid: kidOfCursor(cursor), asked, received: Date.now() });
        }
        for (const status of await accepts(heldToken)) if (status !== 200) refused.push(`held token: ${status}`);
        await delay(400);
      }
    };
    const walking = client();

    const started = new FakeClock(Date.now() - 60_000 + LEFT_MS);
    const signing = await rotateKey(TOKEN_KEYS, signingKeysDir, started);
    const cursor = await rotateKey(CURSOR_KEYS, signingKeysDir, started);
    await eventually(async () => (await published()).length === 2);
    expect(await published()).toEqual([signing.kid, oldSigning]);
    await delay(usedFrom(cursor.createdAt) - Date.now() + 2_000);
    going = false;
    await walking;

    expect(refused).toEqual([]);
    expectHandover(tokens, oldSigning, signing);
    expectHandover(cursors, cursorKeyId(oldCursor), { ...cursor, kid: cursorKeyId(cursor.kid) });
    const takenUp = app.logLines.filter(({ message }) => message === 'took up keys');
    expect(takenUp.map(({ use }) => use).sort()).toEqual(['cursor', 'signing']);
  });

  /** Expects the old key on both instances until the new key's time, and the new key from then on. */
  function expectHandover(issued: readonly Issued[], old: string, fresh: DatedKey): void {
    const at = usedFrom(fresh.createdAt);
    const before = issued.filter(({ received }) => received < at).map(({ kid }) => kid);
    const after = issued.filter(({ asked }) => asked > at).map(({ kid }) => kid);
    expect([...new Set(before)]).toEqual([old]);
    expect([...new Set(after)]).toEqual([fresh.kid]);
  }

  it('are refused by both instances after an emergency removal', async () => {
    expect(await accepts(heldToken)).toEqual([200, 200]);
    expect(kidOfToken(heldToken)).toBe(oldSigning);

    await removeKey(TOKEN_KEYS, signingKeysDir, oldSigning);
    await eventually(async () => (await accepts(heldToken)).every((status) => status === 401));
    const { body } = await new ApiClient(app.origin, heldToken).get(PATH);
    expect(body['code']).toBe('token_invalid');
    expect(await published()).not.toContain(oldSigning);
    const fresh = await aToken(app.origin);
    expect(await accepts(String(fresh.body['access_token']))).toEqual([200, 200]);

    const current = new ApiClient(app.origin, String(fresh.body['access_token']));
    const { pageInfo } = await current.page(PATH, { pageSize: '1' });
    const young = await rotateKey(CURSOR_KEYS, signingKeysDir, new FakeClock(Date.now()));
    for (const { kid } of await listKeys(CURSOR_KEYS, signingKeysDir)) {
      if (kid !== young.kid) await removeKey(CURSOR_KEYS, signingKeysDir, kid);
    }
    const path = `${PATH}?pageSize=1&pageCursor=${pageInfo.endCursor}`;
    await eventually(async () => (await current.get(path)).body['code'] === 'invalid_cursor');
    const next = await current.page(PATH, { pageSize: '1' });
    expect(kidOfCursor(next.pageInfo.endCursor as string)).toBe(cursorKeyId(young.kid));
  });

  it('that are a named pipe cause a warning and block neither requests nor shutdown', async () => {
    const keys = join(directory, 'with-pipes');
    cpSync(signingKeysDir, keys, { recursive: true });
    const port = await freePort();
    const instance = new ApiProcess({
      SIGNING_KEYS_DIR: keys,
      DATABASE_URL: app.database.databaseUrl,
      LOCAL_DIR: app.settings.localDir,
      PORT: String(port),
      MANAGEMENT_PORT: '0',
    });
    await instance.serving();

    for (const name of ['one', 'two', 'three', 'four']) makeFifo(join(keys, `${name}.pem`));

    for (const deadline = Date.now() + TAKEN_UP_MS; !instance.output.includes('four.pem'); await delay(50)) {
      if (Date.now() > deadline) throw new Error('No warning.');
    }
    expect((await new ApiClient(`http://127.0.0.1:${port}`).get('/v1/health')).status).toBe(200);
    instance.signal('SIGINT');
    expect(await instance.exitCode()).toBe(0);
    expect(instance.output.match(/SIGNING_KEYS_DIR: \w+\.pem cannot be read \(not a regular file\)/g)).toHaveLength(4);
  });

  it('without a checkpoint key start in production as before, warn, and load a key made later', async () => {
    const keys = join(directory, 'of-an-earlier-release');
    mkdirSync(keys);
    for (const kind of [TOKEN_KEYS, CURSOR_KEYS]) await putKey(kind, keys);
    const managementPort = await freePort();
    const instance = new ApiProcess({
      NODE_ENV: 'production',
      SIGNING_KEYS_DIR: keys,
      SECRET_PEPPER_FILE: app.settings.secretPepperFile,
      AUDIT_KEY_FILE: app.settings.auditKeyFile,
      DATABASE_URL: app.database.databaseUrl,
      BASE_URL: 'https://api.example.test',
      PORT: String(await freePort()),
      MANAGEMENT_PORT: String(managementPort),
    });
    await instance.serving();
    const types = async (): Promise<string[]> => {
      const { body } = await ApiClient.ofManagement(`http://127.0.0.1:${managementPort}`).get('/jwks.json');
      return (body as { keys: { kty: string }[] }).keys.map(({ kty }) => kty);
    };
    expect(await types()).not.toContain('OKP');
    expect(instance.output).toContain('holds no key (*.checkpoint.pem); admin keys init makes one.');

    await putKey(CHECKPOINT_KEYS, keys);

    await eventually(async () => (await types()).includes('OKP'));
    instance.signal('SIGINT');
    expect(await instance.exitCode()).toBe(0);
  });

  it('that are unusable stop the start with the reason', async () => {
    const spoiled = join(directory, 'spoiled');
    mkdirSync(spoiled);
    writeFileSync(join(spoiled, 'key.pem'), '-----BEGIN PRIVATE KEY-----\nhunter2');
    const instance = new ApiProcess({
      SIGNING_KEYS_DIR: spoiled,
      DATABASE_URL: app.database.databaseUrl,
      LOCAL_DIR: app.settings.localDir,
      PORT: String(await freePort()),
      MANAGEMENT_PORT: '0',
    });
    expect(await instance.exitCode()).toBe(1);
    expect(instance.errors).toBe(
      `Cannot start: SIGNING_KEYS_DIR: key.pem is no unencrypted RSA private key of at least 2048 bits. ` +
        `SIGNING_KEYS_DIR names ${spoiled}.\n`,
    );
  });

  it('that are missing stop the start in production and name their settings', async () => {
    const missing = join(directory, 'missing');
    const instance = new ApiProcess({
      NODE_ENV: 'production',
      SIGNING_KEYS_DIR: missing,
      SECRET_PEPPER_FILE: missing,
      AUDIT_KEY_FILE: missing,
      DATABASE_URL: app.database.databaseUrl,
      PORT: String(await freePort()),
      MANAGEMENT_PORT: '0',
    });
    expect(await instance.exitCode()).toBe(1);
    const said = ['SIGNING_KEYS_DIR', 'SECRET_PEPPER_FILE', 'AUDIT_KEY_FILE'].map(
      (name) => `  - ${name} names ${missing}, which does not exist; run: admin keys init\n`,
    );
    expect(instance.errors).toBe(`The settings are not valid:\n${said.join('')}`);
  });
});
