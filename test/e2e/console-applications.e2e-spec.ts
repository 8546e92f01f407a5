import { generateKeyPairSync } from 'node:crypto';
import { Trusts } from '#libs/auth/operators';
import { redisOfTheRun } from '../support/redis-of-the-run';
import type { TestApp } from '../support/start-app';
import { type ConsoleBrowser, type Shown, type TestConsole, startConsoleWithApi } from '../support/console-setting';

const XSS = '<script>alert(1)</script>"\'&';
const ESCAPED = '&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;';

describe('The applications of the console', () => {
  let console: TestConsole;
  let api: TestApp;
  let ours: { id: string; slug: string };
  let admin: ConsoleBrowser & { personId: string };
  beforeAll(async () => {
    ({ console, api } = await startConsoleWithApi({ REDIS_URL: redisOfTheRun() }));
    ours = await console.aWorkspace('Ours');
    admin = await console.signIn(ours.slug, 'admin');
  });
  afterAll(() => console.stop());

  const secretOf = ({ text }: Shown) => ({
    client_id: /id="client-id">(ci_\w+)</.exec(text)?.[1] ?? '',
    client_secret: /id="client-secret">(cs_[\w-]+)</.exec(text)?.[1] ?? '',
  });
  /** No log line and no page but the one that made it has the secret. */
  const expectHidden = async ({ client_id: id, client_secret: secret }: ReturnType<typeof secretOf>): Promise<void> => {
    for (const path of ['/applications', `/applications/${id}`]) {
      expect((await admin.get(path)).text).not.toContain(secret);
    }
    const logged = JSON.stringify(console.logLines);
    expect([secret.slice(0, 3), logged.includes('"request"'), logged.includes(secret)]).toEqual(['cs_', true, false]);
  };
  const create = async (name = 'SIEM', browser: ConsoleBrowser = admin) =>
    secretOf(await browser.submit('/applications', '/applications', { name, scopes: 'inventory:read' }));
  const tokenOf = (credentials: { client_id: string; client_secret: string }) =>
    api.client().requestToken({ grant_type: 'client_credentials', ...credentials });
  const act = (clientId: string, action: string, fields: Record<string, string> = {}) =>
    admin.submit(`/applications/${clientId}`, `/applications/${clientId}/${action}`, fields);
  const eventsOf = async (clientId: string) => {
    const { rows } = await console.database.admin.query<Record<string, unknown>>(
      'SELECT action, actor_type, actor_name, request_id, changes FROM audit_event WHERE target_id = $1 ORDER BY id',
      [clientId],
    );
    return rows;
  };

  const actions = [
    ...['rotate-secret', 'end-secret', 'remove-secret', 'disable', 'enable', 'scopes', 'limits'],
    ...['keys', 'remove-key', 'trust', 'remove-trust'],
  ];

  it('are a thousand at most, unless an operator creates more', async () => {
    const { id, slug } = await console.aWorkspace();
    const browser = await console.signIn(slug, 'admin');
    await console.database.admin.query(
      `INSERT INTO application (workspace_id, client_id, name, scopes)
       SELECT $1, 'ci_' || n || $2, 'One of many', '{inventory:read}' FROM generate_series(1, 1000) AS n`,
      [id, slug],
    );

    const fields = { name: 'More', scopes: 'inventory:read' };
    const refused = await browser.submit('/applications', '/applications', fields);
    const without = await browser.submit('/applications', '/applications', { ...fields, noSecret: 'true' });

    for (const { status, text } of [refused, without]) {
      expect([status, text.includes('The workspace has 1,000 applications.')]).toEqual([400, true]);
    }
    const more = ['--workspace', slug, '--name', 'More', '--scope', 'inventory:read'];
    await expect(console.admin('applications', 'create', ...more)).resolves.toHaveProperty('client_id');
  });

  it('shows the secret of a new one once, which gets a token at once', async () => {
    const credentials = await create();

    expect((await tokenOf(credentials)).status).toBe(200);
    expect(await eventsOf(credentials.client_id)).toEqual([
      expect.objectContaining({ action: 'application.created', actor_type: 'PERSON', actor_name: admin.personId }),
    ]);
    await expectHidden(credentials);
  });

  it('answers a form that makes a secret with 200, and a second send with the application and nothing new', async () => {
    const page = await admin.get('/applications');
    const fields: Record<string, string> = { ...page.fields('/applications'), name: 'Twice', scopes: 'inventory:read' };

    const [first, second] = [await admin.post('/applications', fields), await admin.post('/applications', fields)];
    // The same id in capitals.
    await admin.post('/applications', { ...fields, once: fields['once']?.toUpperCase() ?? '' });

    const { client_id: clientId } = secretOf(first);
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect([second.status, second.headers.get('location')]).toEqual([303, `/applications/${clientId}`]);
    expect(second.text).not.toContain('cs_');
    const told = async () =>
      (await admin.get(`/applications/${clientId}`)).text.includes('Nothing was changed: this form');
    expect([await told(), await told()]).toEqual([true, false]);
    expect((await admin.get('/applications')).text.match(/>Twice</g)).toHaveLength(1);
  });

  it('makes an application or a secret by a second send, where the first send failed', async () => {
    const { client_id: clientId } = await create();
    const path = `/applications/${clientId}`;
    const application = { ...(await admin.get('/applications')).fields('/applications'), scopes: 'inventory:read' };
    const rotation = { ...(await admin.get(path)).fields(`${path}/rotate-secret`), overlap: 'none' };
    const send = async () => [
      await admin.post('/applications', { ...application, name: 'Failed once' }),
      await admin.post(`${path}/rotate-secret`, rotation),
    ];

    await console.database.admin.query('ALTER TABLE audit_event ADD CONSTRAINT no_more CHECK (false) NOT VALID');
    const failed = await send();
    await console.database.admin.query('ALTER TABLE audit_event DROP CONSTRAINT no_more');
    const made = await send();

    expect([...failed, ...made].map(({ status }) => status)).toEqual([500, 500, 200, 200]);
    for (const page of made) expect((await tokenOf(secretOf(page))).status).toBe(200);
    expect((await admin.get('/applications')).text.match(/>Failed once</g)).toHaveLength(1);
  });

  it('asks before anything of an application ends', async () => {
    const { client_id: clientId } = await create();
    const path = `/applications/${clientId}`;
    const jwk = { ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: 'k' };
    await act(clientId, 'rotate-secret', { overlap: '24h' });
    await act(clientId, 'keys', { jwk: JSON.stringify(jwk) });
    await act(clientId, 'trust', { issuer: 'https://id.example.com', subject: 'repo:acme/deploy:*' });

    const { text } = await admin.get(path);

    const asked = [...text.matchAll(/<details><summary[^]*?action="([^"]*)"/g)].map(([, action]) => action);
    const endings = ['disable', 'remove-key', 'end-secret', 'remove-secret', 'remove-trust'];
    expect(asked).toEqual(endings.map((ending) => `${path}/${ending}`));
    expect(text.match(/<button class="bad">/g)).toHaveLength(endings.length);
  });

  it('makes one application of two sends at once', async () => {
    const page = await admin.get('/applications');
    const fields = { ...page.fields('/applications'), name: 'Raced', scopes: 'inventory:read' };

    const sent = await Promise.all([1, 2, 3].map(() => admin.post('/applications', fields)));

    expect(sent.map(({ status }) => status).sort()).toEqual([200, 303, 303]);
    expect((await admin.get('/applications')).text.match(/>Raced</g)).toHaveLength(1);
  });

  it('rotates a secret with an overlap, which can be ended', async () => {
    const old = await create();

    const fresh = secretOf(await act(old.client_id, 'rotate-secret', { overlap: '24h' }));

    expect([(await tokenOf(old)).status, (await tokenOf(fresh)).status]).toEqual([200, 200]);
    await expectHidden(fresh);
    const ended = await act(old.client_id, 'end-secret');
    expect([ended.status, (await tokenOf(old)).status, (await tokenOf(fresh)).status]).toEqual([303, 401, 200]);
  });

  it('tells the last use of each secret and key', async () => {
    const old = await create();
    const { client_id: id } = old;
    const jwk = { ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: 'k' };
    await act(id, 'keys', { jwk: JSON.stringify(jwk) });
    const uses = async () => {
      const { text } = await admin.get(`/applications/${id}`);
      const row = /<td>([\w ]+)<\/td>\s*<td data-label="Made">[^<]*<\/td>\s*<td data-label="Last use">([^<]*)</g;
      return Object.fromEntries(Array.from(text.matchAll(row), ([, name = '', use]) => [name, use]));
    };

    const unused = await uses();
    await tokenOf(old);
    await act(id, 'rotate-secret', { overlap: '24h' });
    await console.database.admin.query(
      `UPDATE application_key SET last_used_at = '2026-01-02T03:04:05Z' WHERE client_id = $1`,
      [id],
    );

    expect(unused).toEqual({ Secret: 'never', 'Key k': 'never' });
    expect(await uses()).toEqual({
      ...{ Secret: 'never', 'Key k': '2026-01-02 03:04 UTC' },
      'Old secret': expect.stringMatching(/^20\d\d-\d\d-\d\d \d\d:\d\d UTC$/) as string,
    });
  });

  it('rotates a secret once, however often the form is sent', async () => {
    const { client_id: clientId } = await create();
    const path = `/applications/${clientId}`;
    const fields = { ...(await admin.get(path)).fields(`${path}/rotate-secret`), overlap: 'none' };

    const first = await admin.post(`${path}/rotate-secret`, fields);
    const second = await admin.post(`${path}/rotate-secret`, fields);

    expect([first.status, second.status, second.headers.get('location')]).toEqual([200, 303, path]);
    expect((await admin.get(path)).text).toContain('Nothing was changed: this form was sent before');
    expect((await tokenOf(secretOf(first))).status).toBe(200);
  });

  it('refuses a disabled application on its next request, and accepts it again', async () => {
    const credentials = await create();
    const token = (await tokenOf(credentials)).body['access_token'] as string;
    const ask = async () => (await api.client(token).get('/v1/inventory/assets')).status;
    expect(await ask()).toBe(200);

    const disabled = await act(credentials.client_id, 'disable');
    const refused = await ask();
    // The page offers the one that fits.
    const enabled = await act(credentials.client_id, 'enable');

    expect([disabled.status, refused, enabled.status, await ask()]).toEqual([303, 401, 303, 200]);
  });

  it('makes one without a secret, which proves itself by a key', async () => {
    const name = 'Keyed';
    const created = await admin.submit('/applications', '/applications', {
      name,
      scopes: 'all:read',
      noSecret: 'true',
    });
    const path = created.headers.get('location') ?? '';
    const clientId = path.split('/').at(-1) ?? '';
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'first' };

    const [added, again, secret, wrong] = [
      await act(clientId, 'keys', { jwk: JSON.stringify(jwk) }),
      await act(clientId, 'keys', { jwk: JSON.stringify(jwk) }),
      await act(clientId, 'keys', { jwk: JSON.stringify(privateKey.export({ format: 'jwk' })) }),
      await act(clientId, 'keys', { jwk: XSS }),
    ];

    expect([created.status, added.status, again.status, secret.status, wrong.status]).toEqual([
      303, 303, 400, 400, 400,
    ]);
    const [empty, unknown] = [
      await act(clientId, 'keys', { jwk: '' }),
      await act(clientId, 'remove-key', { kid: 'other' }),
    ];
    expect([empty.status, unknown.status]).toEqual([400, 404]);
    const sized = (size: number) => {
      const text = JSON.stringify({ ...jwk, kid: String(size) });
      return act(clientId, 'keys', { jwk: `{${' '.repeat(size - text.length)}${text.slice(1)}` });
    };
    const [longest, long] = [await sized(20_000), await sized(20_001)];
    expect([longest.status, long.status]).toEqual([303, 400]);
    expect(long.text).toMatch(/id="jwk-error"[^>]*>[^<]*1 to 20000 characters/);
    expect((await admin.get(path)).text).toContain('Key first');
    expect((await act(clientId, 'remove-key', { kid: '20000' })).status).toBe(303);
    expect((await act(clientId, 'remove-key', { kid: 'first' })).status).toBe(303);
    const recorded = await eventsOf(clientId);
    expect(recorded.map(({ action }) => action)).toEqual([
      ...['application.created', 'application.key_added', 'application.key_added'],
      ...['application.key_removed', 'application.key_removed'],
    ]);
    const requests = [created, added, longest].map(({ headers }) => headers.get('x-request-id'));
    expect(recorded.slice(0, 3).map(({ request_id: id }) => id)).toEqual(requests);
  });

  it('removes a key whose id has blanks at its ends', async () => {
    const { client_id: clientId } = await create();
    const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    await act(clientId, 'keys', { jwk: JSON.stringify({ ...key, kid: '  my key ' }) });

    const [trimmed, removed] = [
      await act(clientId, 'remove-key', { kid: 'my key' }),
      await act(clientId, 'remove-key'),
    ];

    expect([trimmed.status, removed.status]).toEqual([404, 303]);
    expect((await eventsOf(clientId)).at(-1)).toMatchObject({
      action: 'application.key_removed',
      changes: { kid: { old: '  my key ' } },
    });
  });

  it('trusts an issuer, once a worker fetched its keys', async () => {
    const { client_id: clientId } = await create();
    const trust = { issuer: 'https://id.example.com', subject: 'repo:acme/deploy:*' };

    const [added, again, wrong] = [
      await act(clientId, 'trust', trust),
      await act(clientId, 'trust', trust),
      await act(clientId, 'trust', { issuer: 'http://id.example.com', subject: 'repo:*' }),
    ];

    expect([added.status, again.status, wrong.status]).toEqual([303, 400, 400]);
    for (const name of ['issuer', 'subject']) expect(wrong.text).toContain(`id="${name}-error"`);
    const { rows } = await console.database.admin.query(
      'SELECT state, of_operator, keys FROM application_trust WHERE client_id = $1',
      [clientId],
    );
    expect(rows).toEqual([{ state: 'PENDING', of_operator: false, keys: [] }]);
    for (const [field, value] of [
      ['issuer', `https://${'a'.repeat(493)}`],
      ['subject', 's'.repeat(501)],
      ['issuer', ''],
      ['subject', ''],
    ] as const) {
      const refused = await act(clientId, 'trust', { ...trust, subject: 'repo:acme/other:*', [field]: value });
      expect([field, refused.status, refused.text.includes(`id="${field}-error"`)]).toEqual([field, 400, true]);
    }
    const { text } = await admin.get(`/applications/${clientId}`);
    expect(text).toContain('<td data-label="Audience"><code>http');
    expect(text).toContain(`<a href="/audit?clientId=${clientId}">`);
    expect(text).toContain('<td>Trust repo:acme/deploy:*</td>');
    expect((await act(clientId, 'remove-trust', { trust: 'x' })).status).toBe(404);
    // Another one in the same issuer, and for the same subject.
    const others = [{ subject: 'repo:acme/other:*' }, { issuer: 'https://other.example.com' }];
    for (const other of others) expect((await act(clientId, 'trust', { ...trust, ...other })).status).toBe(303);
    expect((await act(clientId, 'remove-trust')).status).toBe(303);
    expect((await eventsOf(clientId)).map(({ action }) => action)).toEqual([
      ...['application.created', ...Array<string>(3).fill('application.trust_added'), 'application.trust_removed'],
    ]);
  });

  it('removes a secret, which ends at once, and makes none by a form of before', async () => {
    const credentials = await create();
    const path = `/applications/${credentials.client_id}`;
    const rotate = async (fields: object) =>
      (await admin.post(`${path}/rotate-secret`, { ...fields, overlap: 'none' })).status;

    const form = async () => (await admin.get(path)).fields(`${path}/rotate-secret`);
    const remove = () => act(credentials.client_id, 'remove-secret');

    const [before, removed, ended] = [await form(), await remove(), await tokenOf(credentials)];
    const [outdated, fresh] = [await rotate(before), await form()];
    const [first, , again] = [await rotate(fresh), await remove(), await rotate(fresh)];

    expect([removed.status, ended.status, outdated, first, again]).toEqual([303, 401, 303, 200, 303]);
  });

  it('sets scopes, and takes no unknown one, nor by a form of before one that somebody took away', async () => {
    const { client_id: clientId } = await create();
    const path = `/applications/${clientId}`;
    const before = (await admin.get(path)).fields(`${path}/scopes`);

    const [set, none, unknown] = [
      await act(clientId, 'scopes', { scopes: 'computers:read' }),
      await act(clientId, 'scopes'),
      await act(clientId, 'scopes', { scopes: 'root' }),
    ];
    const twice = await admin.post(`${path}/scopes`, { ...before, scopes: 'computers:read' });
    const outdated = await admin.post(`${path}/scopes`, { ...before, scopes: 'inventory:read' });

    expect([set, none, unknown, twice, outdated].map(({ status }) => status)).toEqual([303, 400, 400, 303, 409]);
    expect(outdated.text).toContain('The scopes are computers:read by now.');
    expect(none.text).toContain('id="scopes-error"');
    expect(none.text).not.toContain(' checked>');
    expect((await eventsOf(clientId)).at(-1)).toMatchObject({
      action: 'application.scopes_set',
      changes: { scopes: { old: ['inventory:read'], new: ['computers:read'] } },
    });
  });

  it('lowers limits, and never raises them', async () => {
    const { client_id: clientId } = await create();
    expect((await act(clientId, 'limits', { read: '20/40' })).status).toBe(303);

    const raised = await act(clientId, 'limits', { read: '20/41', write: 'x' });
    const higher = await act(clientId, 'limits', { read: '30/40' });
    const lower = await act(clientId, 'limits', { read: '10/40' });

    expect([raised.status, higher.status, lower.status]).toEqual([400, 400, 303]);
    expect(raised.text).toContain('id="write-error"');
    expect(higher.text).toContain('value="30/40"');
    expect(higher.text).toContain('Only an operator raises limits');
    expect((await admin.get(`/applications/${clientId}`)).text).toContain('In force: 10/40, own limit');
  });

  it('returns 404 when the application is deleted while its page is made', async () => {
    const { client_id: clientId } = await create();
    const gone = jest.spyOn(Trusts.prototype, 'list').mockResolvedValueOnce(null);

    const { status } = await admin.get(`/applications/${clientId}`);
    gone.mockRestore();

    expect(status).toBe(404);
  });

  it('shows errors beside their fields, and what was typed', async () => {
    const refused = await admin.submit('/applications', '/applications', { name: XSS });

    expect(refused.status).toBe(400);
    expect(refused.text).toContain('aria-describedby="scopes-error"');
    expect(refused.text).toContain(`value="${ESCAPED}"`);
  });

  it('shows every field as text', async () => {
    const { client_id: clientId } = await create(XSS);
    const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    await act(clientId, 'keys', { jwk: JSON.stringify({ ...key, kid: `${XSS}key` }) });
    await act(clientId, 'trust', { issuer: `https://id.example.com/${XSS}issuer`, subject: `${XSS}subject` });
    await console.database.admin.query('UPDATE application_trust SET failure = $2 WHERE client_id = $1', [
      clientId,
      XSS,
    ]);

    const pages = [await admin.get('/applications'), await admin.get(`/applications/${clientId}`)];
    for (const { text } of pages) {
      expect(text).not.toContain('<script>alert');
      expect(text).toContain(ESCAPED);
    }
    for (const field of ['key', 'issuer', 'subject']) expect(pages[1]?.text).toContain(ESCAPED + field);
  });

  it("hides another workspace's, to read and to change", async () => {
    const theirs = await console.aWorkspace();
    const stranger = await console.signIn(theirs.slug, 'admin');
    const { client_id: foreign } = await create();
    const { client_id: own } = await create('Own', stranger);
    const jwk = { ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: 'k' };
    const trusted = { issuer: 'https://id.example.com', subject: 'repo:acme/deploy:*' };
    expect((await act(foreign, 'keys', { jwk: JSON.stringify(jwk) })).status).toBe(303);
    expect((await act(foreign, 'trust', trusted)).status).toBe(303);
    const { rows } = await console.database.admin.query<{ id: string }>(
      'SELECT id FROM application_trust WHERE client_id = $1',
      [foreign],
    );

    expect((await stranger.get(`/applications/${foreign}`)).status).toBe(404);
    const before = await eventsOf(foreign);
    for (const action of actions) {
      const fields = (await stranger.get(`/applications/${own}`)).fields(`/applications/${own}/rotate-secret`);
      const sent = {
        ...{ ...fields, overlap: 'none', scopes: 'all:write', read: '1/1' },
        ...{ jwk: JSON.stringify({ ...jwk, kid: 'l' }), kid: 'k', trust: rows[0]?.id ?? '' },
        ...{ ...trusted, subject: 'repo:acme/other:*' },
      };
      expect([action, (await stranger.post(`/applications/${foreign}/${action}`, sent)).status]).toEqual([action, 404]);
    }
    expect(await eventsOf(foreign)).toEqual(before);
  });

  describe('are refused', () => {
    it('to a viewer, who gets no link to them', async () => {
      const viewer = await console.signIn(ours.slug, 'viewer');
      const { client_id: clientId } = await create();
      const home = await viewer.get('/');
      const fields = home.fields('/sign-out');

      expect(home.text).not.toContain('href="/applications"');
      const tried = [
        await viewer.get('/applications'),
        await viewer.get(`/applications/${clientId}`),
        await viewer.post('/applications', { ...fields, name: 'x', scopes: 'all:write' }),
        ...(await Promise.all(actions.map((action) => viewer.post(`/applications/${clientId}/${action}`, fields)))),
      ];
      expect(tried.map(({ status }) => status)).toEqual(tried.map(() => 403));
    });

    it('without a session, and by GET', async () => {
      const { client_id: clientId } = await create();
      const nobody = console.browser();

      const tried = [await nobody.get('/applications'), await nobody.post(`/applications/${clientId}/disable`, {})];
      const read = await Promise.all(actions.map((action) => admin.get(`/applications/${clientId}/${action}`)));

      expect(tried.map(({ status, headers }) => [status, headers.get('location')])).toEqual([
        [303, '/sign-in'],
        [303, '/sign-in'],
      ]);
      expect(read.map(({ status }) => status)).toEqual(actions.map(() => 404));
      expect((await eventsOf(clientId)).length).toBe(1);
    });

    it('to an administrator who became a viewer, on the next request', async () => {
      const demoted = await console.signIn(ours.slug, 'admin');
      expect((await demoted.get('/applications')).status).toBe(200);

      await console.admin('people', 'set-role', '--workspace', ours.slug, demoted.personId, '--role', 'viewer');

      expect((await demoted.get('/applications')).status).toBe(403);
    });
  });
});
