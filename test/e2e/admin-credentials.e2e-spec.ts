import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { runAdminOn } from '../support/admin-command';
import type { ArrangedApplication } from '../support/arrangement';
import { type Row, documentOf, expectFault } from '../support/finished-command';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { StandInIssuer } from '../support/stand-in-issuer';
import { type TestApp, startApp } from '../support/start-app';

const GITHUB = 'repo:acme/app:ref:refs/heads/main';
const TIME = expect.stringMatching(/^20.*Z$/) as string;
const publicJwk = () => generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });

describe('admin applications', () => {
  let app: TestApp;
  let directory: string;
  let workspace: string;
  let own: ArrangedApplication;
  let token: string;
  beforeAll(async () => {
    app = await startApp({ REDIS_URL: redisOfTheRun() });
    directory = mkdtempSync(join(tmpdir(), 'credentials-'));
    workspace = await app.arrange.aWorkspace();
  });
  beforeEach(async () => {
    own = await app.arrange.anApplication(workspace, ['inventory:read']);
    token = (await bySecret(own)).body['access_token'] as string;
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await app.stop();
  });

  const run = (...words: string[]) =>
    runAdminOn(app.database, ['applications', ...words, '--json'], {
      BASE_URL: app.settings.baseUrl,
      REDIS_URL: redisOfTheRun(),
    });
  const items = async (...words: string[]) => documentOf(await run(...words))['items'] as Row[];
  const bySecret = ({ clientId, clientSecret }: ArrangedApplication) =>
    app.client().requestToken({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret });
  const byAssertion = ({ clientId, assertion }: { readonly clientId: string; readonly assertion: string }) =>
    app.client().requestToken({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    });
  /** `200` while the first token of the application lives. */
  const live = async () => {
    const { status, body } = await app.client(token).get('/v1/me');
    return status === 200 ? status : body['code'];
  };
  const file = (content: unknown): string => {
    const path = join(directory, `${randomUUID()}.json`);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const actions = async ({ clientId }: ArrangedApplication): Promise<string[]> => {
    const text = 'SELECT action FROM audit_event WHERE target_id = $1 ORDER BY id';
    const { rows } = await app.database.admin.query<{ action: string }>(text, [clientId]);
    return rows.map(({ action }) => action.replace('application.', ''));
  };

  describe('keys', () => {
    const add = (content: unknown, { clientId } = own) => run('keys', 'add', clientId, '--jwk', file(content));
    const kids = async () => (await items('keys', 'list', own.clientId)).map(({ kid }) => kid);
    const jwk = (kid: string) => ({ ...publicJwk(), kid });

    it('are added as a set or not at all, and listed in the order in which they came', async () => {
      const added = { algorithms: ['EdDSA', 'Ed25519'], createdAt: TIME, lastUsedAt: null };
      const [first] = documentOf(await add(jwk('z')))['items'] as Row[];
      expect(first).toEqual({ kid: 'z', ...added });
      expect(documentOf(await add({ keys: [jwk('b'), jwk('a')] }))['items']).toEqual(
        ['z', 'a', 'b'].map((kid) => ({ kid, ...added })),
      );

      expectFault(await add({ keys: [jwk('c'), jwk('a')] }), 1, /has a key "a" already/);
      expectFault(await add({ keys: [jwk('c'), jwk('c')] }), 1, /has a key "c" already/);
      const eight = Array.from({ length: 8 }, (_, n) => jwk(`k${n}`));
      expectFault(await add({ keys: eight }), 1, /at most 10 keys/);
      expect(await kids()).toEqual(['z', 'a', 'b']);

      expect(documentOf(await add({ keys: eight.slice(1) }))['items']).toHaveLength(10);
      expect(await actions(own)).toEqual(Array(10).fill('key_added'));
      expect(await live()).toBe(200);
    });

    it('are never private, nor of an unknown application', async () => {
      const pair = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
      const refused = await add(pair);
      expectFault(refused, 2, /credentials-.*\.json: The file holds a private key/);
      expect(refused.stderr).not.toContain(pair.d);
      expectFault(await run('keys', 'add', own.clientId, '--jwk', join(directory, 'none')), 1, /does not exist/);
      expectFault(await run('keys', 'add', own.clientId, '--jwk', directory), 1, /credentials-\w+ is a directory/);
      expect(await kids()).toEqual([]);
      for (const words of [['list'], ['remove', 'k', '--yes']]) {
        const [verb = '', ...others] = words;
        expectFault(
          await run('keys', verb, 'ci_nobody', ...others),
          1,
          /no application with the client id "ci_nobody"/,
        );
      }
      expectFault(await add(jwk('k'), { ...own, clientId: 'ci_nobody' }), 1, /no application/);
    });

    it('come from a file that begins with a byte order mark, too', async () => {
      expect(documentOf(await add(`\ufeff${JSON.stringify(jwk('k'))}`))['items']).toMatchObject([{ kid: 'k' }]);
    });

    it('sign for the address of the token endpoint only where the application was made for it', async () => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const slug = await app.arrange.slugOf(workspace);
      const create = ['create', '--workspace', slug, '--name', 'x', '--scope', 'inventory:read'];
      const statuses: number[] = [];
      for (const words of [['--old-audience'], []]) {
        const clientId = documentOf(await run(...create, ...words))['client_id'] as string;
        await run('keys', 'add', clientId, '--jwk', file(publicKey.export({ format: 'jwk' })));
        for (const audience of ['', '/oauth/token', '/oauth/token/', '/']) {
          const claims = { iss: clientId, sub: clientId, aud: `${app.settings.baseUrl}${audience}`, jti: randomUUID() };
          const assertion = new SignJWT(claims).setExpirationTime('1 minute').setProtectedHeader({ alg: 'Ed25519' });
          statuses.push((await byAssertion({ clientId, assertion: await assertion.sign(privateKey) })).status);
        }
      }
      expect(statuses).toEqual([200, 200, 401, 401, 200, 401, 401, 401]);
    });

    it('are removed after a confirmation alone, with the live token', async () => {
      const neighbour = await app.arrange.anApplication(workspace);
      await add({ keys: [jwk('one'), jwk('x'.repeat(200))] });
      await add({ keys: [jwk('two'), jwk('x'.repeat(200))] }, neighbour);
      const remove = (kid: string, ...words: string[]) => run('keys', 'remove', own.clientId, kid, ...words);

      expectFault(await remove('one'), 2, /add --yes/);
      expectFault(await remove('two', '--yes'), 1, /has no key "two". Run "applications keys list ci_/);
      expectFault(await remove('', '--yes'), 1, /has no key ""/);
      expectFault(await remove('x'.repeat(201), '--yes'), 1, /has no key "x+"/);
      expect([(await kids()).length, await live()]).toEqual([2, 200]);

      expect(documentOf(await remove('x'.repeat(200), '--yes'))['items']).toMatchObject([{ kid: 'one' }]);
      expect(await live()).toBe('token_superseded');
      expect(await actions(own)).toEqual(['key_added', 'key_added', 'key_removed']);
      expect(await items('keys', 'list', neighbour.clientId)).toHaveLength(2);
    });

    it('are removed by an id of 200 characters outside the BMP, and by one that begins with a hyphen', async () => {
      await add({ keys: [jwk('🔑'.repeat(200)), jwk('-y')] });
      const remove = (...words: string[]) => runAdminOn(app.database, ['applications', 'keys', 'remove', ...words]);

      for (const kid of ['🔑'.repeat(200), '-y']) {
        expect(await remove(own.clientId, '--yes', '--', kid)).toMatchObject({ exitCode: 0, stderr: '' });
      }

      expect(await kids()).toEqual([]);
      const help = (await remove('--help')).stdout.replace(/\s+/g, ' ');
      expect(help).toContain('write -- before one that begins with a hyphen');
    });
  });

  describe('trust', () => {
    let issuer: StandInIssuer;
    beforeEach(async () => {
      issuer = await StandInIssuer.start();
    });
    afterEach(() => issuer.stop());

    const trust = (subject: string, ...words: string[]) =>
      run('trust', 'add', own.clientId, '--issuer', issuer.url, '--subject', subject, '--insecure', ...words);
    const trusts = () => items('trust', 'list', own.clientId);
    const stored = async () => {
      const select = 'SELECT * FROM application_trust WHERE client_id = $1 ORDER BY created_at';
      return (await app.database.admin.query<Row>(select, [own.clientId])).rows;
    };
    const idOf = async (subject: string) =>
      (await trusts()).find((one) => one['subject'] === subject)?.['id'] as string;
    const refresh = (...words: string[]) => run('trust', 'refresh', own.clientId, ...words);
    const given = () => file({ keys: issuer.keys });
    const marked = () => file(`\ufeff${JSON.stringify({ keys: issuer.keys })}`);
    const byToken = async (claims: object) => {
      const assertion = await issuer.token({ sub: GITHUB, aud: app.settings.baseUrl, ...claims });
      return byAssertion({ clientId: own.clientId, assertion });
    };

    it('takes a token by the trust of its own audience alone', async () => {
      documentOf(await trust(GITHUB));
      const { exitCode } = await trust(GITHUB, '--audience', 'https://github.com/acme');
      await trust('other', '--audience', 'https://other.example');
      const used = async () => (await trusts()).map((one) => [one['audience'], one['lastUsedAt'] !== null]);

      expect((await byToken({ aud: 'https://github.com/acme' })).status).toBe(200);
      const second = await used();
      expect((await byToken({})).status).toBe(200);

      const base = app.settings.baseUrl;
      const audiences = [base, 'https://github.com/acme', 'https://other.example'];
      expect([exitCode, second]).toEqual([0, audiences.map((one, index) => [one, index === 1])]);
      expect(await used()).toEqual(audiences.map((one, index) => [one, index < 2]));
      for (const claims of [{ aud: 'https://other.example' }, { sub: 'other' }])
        expect([claims, (await byToken(claims)).status]).toEqual([claims, 401]);
    });

    it('is removed after a confirmation alone, with the live token', async () => {
      const neighbour = await app.arrange.anApplication(workspace);
      await trust(GITHUB);
      await trust('other');
      const id = await idOf(GITHUB);
      const remove = (one: string, ...words: string[]) => run('trust', 'remove', one, ...words);

      expectFault(await remove(own.clientId, id), 2, /add --yes/);
      expectFault(
        await remove(own.clientId, randomUUID(), '--yes'),
        1,
        /has no trust ".*". Run "applications trust list/,
      );
      expectFault(await remove(neighbour.clientId, id, '--yes'), 1, /has no trust/);
      expectFault(await remove('ci_nobody', id, '--yes'), 1, /no application/);
      expectFault(await remove(own.clientId, 'x', '--yes'), 2, /is a UUID/);
      expect([(await trusts()).length, await live()]).toEqual([2, 200]);

      const left = documentOf(await remove(own.clientId, id.toUpperCase(), '--yes'))['items'];
      expect(left).toMatchObject([{ subject: 'other' }]);
      expect(await live()).toBe('token_superseded');
    });

    it('is refreshed from the issuer, without those of a file', async () => {
      await trust(GITHUB);
      await trust('other', '--jwks', marked());
      const keysOf = async (subject: string) => {
        const text = 'SELECT keys, state, failure FROM application_trust WHERE client_id = $1 AND subject = $2';
        return (await app.database.admin.query(text, [own.clientId, subject])).rows[0] as Row;
      };
      const before = await keysOf('other');
      await app.database.admin.query(
        `UPDATE application_trust SET state = 'FAILED', failure = 'why' WHERE client_id = $1 AND NOT given`,
        [own.clientId],
      );
      await issuer.rotate(undefined, { drop: true });

      const refreshed = documentOf(await refresh())['items'] as Row[];

      expect(refreshed.map((one) => [one['subject'], one['state'], 'failure' in one])).toEqual([
        [GITHUB, 'READY', false],
        ['other', 'READY', false],
      ]);
      expect((await keysOf(GITHUB))['keys']).toMatchObject([{ kid: issuer.keys[0]?.kid }]);
      expect(await keysOf('other')).toEqual(before);
      expect([await live(), await actions(own)]).toEqual([200, ['trust_added', 'trust_added']]);
      documentOf(await refresh(await idOf(GITHUB), '--end-token'));
      expect(await live()).toBe('token_superseded');
      expect(await actions(own)).toEqual(['trust_added', 'trust_added', 'trust_replaced']);
      const replaced = `SELECT changes FROM audit_event WHERE target_id = $1 AND action = 'application.trust_replaced'`;
      const { rows } = await app.database.admin.query(replaced, [own.clientId]);
      const which = Object.entries({ issuer: issuer.url, subject: GITHUB, audience: app.settings.baseUrl });
      expect(rows).toMatchObject([
        { changes: Object.fromEntries(which.map(([member, text]) => [member, { old: text, new: text }])) },
      ]);
    });

    it('is left as it was when a refresh names the wrong one, or a set cannot be had', async () => {
      await trust(GITHUB);
      await trust('file', '--jwks', given());
      const before = await stored();

      expectFault(await refresh('--jwks', given()), 2, /name the trust by its id/);
      expectFault(await refresh(await idOf('file'), '--jwks', directory), 1, /credentials-\w+ is a directory/);
      expectFault(await refresh(await idOf(GITHUB), '--jwks', given()), 2, /added with --jwks, and for no other/);
      expectFault(await refresh(await idOf('file')), 1, /Give --jwks for a trust/);
      expectFault(await refresh(randomUUID()), 1, /has no trust/);
      expectFault(await run('trust', 'refresh', 'ci_nobody'), 1, /no application/);
      expectFault(await run('trust', 'list', 'ci_nobody'), 1, /no application/);
      const asked = issuer.asked.length;
      const unknown = ['trust', 'add', 'ci_nobody', '--issuer', issuer.url, '--subject', 'x', '--insecure'];
      expectFault(await run(...unknown), 1, /no application/);
      expect(issuer.asked).toHaveLength(asked);
      for (const audience of ['', 'x'.repeat(1_001), 'a\u0001b'])
        expectFault(await trust('wide', '--audience', audience), 2, /An audience has 1 to 1000 characters/);
      issuer.answers.set('/jwks', (_, response) => response.writeHead(500).end());
      expectFault(await refresh('--end-token'), 1, /did not answer with 200/);

      expect(await stored()).toEqual(before);
      expect(await live()).toBe(200);
    });

    it('has nothing to refresh where every set is of a file, and then keeps the live token', async () => {
      await trust('file', '--jwks', given());

      expectFault(await refresh('--end-token'), 1, /no trust whose keys are fetched.*--jwks/);

      expect([await live(), await actions(own)]).toEqual([200, ['trust_added']]);
    });

    it('is refreshed when another one is removed meanwhile, which stays removed', async () => {
      await trust('first');
      await trust('second');
      await issuer.rotate(undefined, { drop: true });
      issuer.answers.set('/jwks', (_, response) => {
        const remove = `DELETE FROM application_trust WHERE client_id = $1 AND subject = 'second'`;
        void app.database.admin
          .query(remove, [own.clientId])
          .then(() => response.end(JSON.stringify({ keys: issuer.keys })));
      });

      const refreshed = documentOf(await refresh('--end-token'))['items'];

      expect(refreshed).toMatchObject([{ subject: 'first', state: 'READY' }]);
      expect(await stored()).toMatchObject([{ keys: [{ kid: issuer.keys[0]?.kid }] }]);
      expect(await live()).toBe('token_superseded');
    });

    it('ends no token when it was removed while its keys were fetched', async () => {
      await trust('first');
      issuer.answers.set('/jwks', (_, response) => {
        const remove = 'DELETE FROM application_trust WHERE client_id = $1';
        void app.database.admin
          .query(remove, [own.clientId])
          .then(() => response.end(JSON.stringify({ keys: issuer.keys })));
      });

      expectFault(await refresh('--end-token'), 1, /has no trust/);
      expect([await live(), await actions(own)]).toEqual([200, ['trust_added']]);
    });

    it('alone proves an application whose secret was removed, which then has none to remove', async () => {
      await trust(GITHUB);
      expectFault(await run('remove-secret', own.clientId), 2, /add --yes/);
      expect(await live()).toBe(200);
      token = (await bySecret(own)).body['access_token'] as string;
      expect(await live()).toBe(200);
      expectFault(await run('remove-secret', 'ci_nobody', '--yes'), 1, /no application/);

      const shown = documentOf(await run('remove-secret', own.clientId, '--yes'));

      expect(shown['credentials']).toMatchObject([{ type: 'TRUST' }]);
      expect([await live(), (await bySecret(own)).status]).toEqual(['token_superseded', 401]);
      token = (await byToken({})).body['access_token'] as string;
      expect(documentOf(await run('remove-secret', own.clientId, '--yes'))['credentials']).toHaveLength(1);
      expect([await live(), await actions(own)]).toEqual([200, ['trust_added', 'secret_removed']]);
    });
  });

  it('list shows how each application proves itself', async () => {
    const keyed = await app.arrange.anApplication(workspace);
    documentOf(await run('keys', 'add', keyed.clientId, '--jwk', file({ ...publicJwk(), kid: 'k' })));

    const listed = await items('list');

    const shownOf = ({ clientId }: ArrangedApplication) =>
      (listed.find((one) => one['client_id'] === clientId)?.['credentials'] as Row[]).map(({ id }) => id);
    expect([shownOf(own), shownOf(keyed)]).toEqual([['current'], ['current', 'k']]);
  });
});
