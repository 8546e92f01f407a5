import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { Metrics } from '#libs/platform/observability';
import { AuditRecorder } from '#libs/audit/operators';
import { loadConsoleSettings } from '../../apps/console/src/console-settings';
import { type TestConsole, localKeys, startConsole } from '../support/console-setting';

describe('The console', () => {
  let console: TestConsole;
  let ours: { id: string; slug: string };
  beforeAll(async () => {
    console = await startConsole();
    ours = await console.aWorkspace('Ours');
  });
  afterAll(() => console.stop());

  const events = async (personId: string): Promise<Record<string, unknown>[]> => {
    const { rows } = await console.database.admin.query<Record<string, unknown>>(
      `SELECT action, actor_type, actor_name, target_type, target_id FROM audit_event
        WHERE target_id = $1 ORDER BY id`,
      [personId],
    );
    return rows;
  };
  const age = (personId: string, sql: string) =>
    console.database.admin.query(`UPDATE console_session SET ${sql} WHERE person_id = $1`, [personId]);
  const add = (email: string) =>
    console.admin('people', 'add', '--workspace', ours.slug, '--email', email, '--name', 'X', '--role', 'viewer');

  describe('sign-in by a link', () => {
    it('signs a person in, and leaves an event with the person and no address', async () => {
      const admin = await console.signIn(ours.slug, 'admin', 'ada@example.com');

      const page = await admin.get('/');

      expect([page.status, page.text.match(/<h1>.*<\/h1>/)?.[0]]).toEqual([200, '<h1>Overview</h1>']);
      expect(page.text).toContain('<title>Overview – Compliance console</title>');
      const recorded = await events(admin.personId);
      expect(recorded.at(-1)).toEqual({
        ...{ action: 'person.signed_in', actor_type: 'PERSON', actor_name: admin.personId },
        ...{ target_type: 'PERSON', target_id: admin.personId },
      });
      expect(JSON.stringify(recorded)).not.toContain('ada@');
    });

    it('works once, by a POST only', async () => {
      await add('once@example.com');
      const path = await console.linkOf(ours.slug, 'once@example.com');
      const browser = console.browser();
      const told = jest.spyOn(Logger.prototype, 'warn');

      const opened = [await browser.get(path), await browser.get(path)];
      const forged = await console.browser().post(path, { csrf: 'x'.repeat(43) });
      const used = await browser.post(path, opened[0]?.fields() ?? {});
      const again = await console.browser().post(path, opened[0]?.fields() ?? {});
      const empty = await fetch(`${console.origin}${path}`, { method: 'POST' });

      expect([empty.status, forged.status]).toEqual([403, 403]);
      const refusal = { message: 'sign-in refused', reason: 'the form has no valid token' };
      expect(told.mock.calls.flat()).toMatchObject([refusal, {}, refusal]);
      told.mockRestore();
      expect(opened.map(({ status }) => status)).toEqual([200, 200]);
      expect([used.status, used.headers.get('location'), again.status]).toEqual([303, '/', 403]);
      expect(again.headers.getSetCookie()).toEqual([]);
    });

    it.each([
      ['Forwarded', 'for=192.0.2.1'],
      ['X-Forwarded-For', '192.0.2.1'],
      ['X-Forwarded-Host', 'x'],
      ['X-Real-IP', '::1'],
    ])('is not there behind a proxy that sends %s', async (header, value) => {
      await add(`${header}@example.com`);
      const path = await console.linkOf(ours.slug, `${header}@example.com`);
      const fields = (await console.browser().get(path)).fields();

      const [shown, used] = [
        await console.browser().get(path, { [header]: value }),
        await console.browser().post(path, fields, { [header]: value }),
      ];

      expect([shown.status, used.status]).toEqual([404, 404]);
    });

    it('lets one of two in who use it at once, and nobody who was removed meanwhile', async () => {
      const people = ['raced@example.com', 'removed@example.com'];
      const ids = [];
      for (const email of people) ids.push((await add(email))['id'] as string);
      const [raced = '', removed = ''] = await Promise.all(people.map((email) => console.linkOf(ours.slug, email)));
      const form = async (path: string) => (await console.browser().get(path)).fields();
      const fields = await form(raced);

      const used = await Promise.all([1, 2, 3, 4].map(() => console.browser().post(raced, fields)));
      await console.admin('people', 'remove', '--workspace', ours.slug, ids[1] ?? '');
      const late = await console.browser().post(removed, await form(removed));

      expect(used.map(({ status }) => status).sort()).toEqual([303, 403, 403, 403]);
      expect(late.status).toBe(403);
      const tokens = [raced, removed].map((path) => path.split('/').pop() ?? '');
      for (const token of tokens) expect(JSON.stringify(console.logLines)).not.toContain(token);
    });

    it('stays unused where no event of the sign-in can be recorded', async () => {
      await add('unrecorded@example.com');
      const path = await console.linkOf(ours.slug, 'unrecorded@example.com');
      const fields = (await console.browser().get(path)).fields();
      const lost = jest.spyOn(AuditRecorder.prototype, 'recordAct').mockRejectedValueOnce(new Error('no event'));

      const failed = await console.browser().post(path, fields);
      lost.mockRestore();

      expect([failed.status, failed.headers.getSetCookie()]).toEqual([500, []]);
      expect((await console.browser().post(path, fields)).status).toBe(303);
    });

    it('stays unused where no session can begin, and leaves no event', async () => {
      const { id } = await add('no-session@example.com');
      const path = await console.linkOf(ours.slug, 'no-session@example.com');
      const fields = (await console.browser().get(path)).fields();

      await console.database.admin.query('ALTER TABLE console_session ADD CONSTRAINT no_more CHECK (false) NOT VALID');
      const failed = await console.browser().post(path, fields);
      await console.database.admin.query('ALTER TABLE console_session DROP CONSTRAINT no_more');

      const left = (await events(id as string)).map(({ action }) => action);
      expect([failed.status, left]).toEqual([500, ['person.added']]);
      expect((await console.browser().post(path, fields)).status).toBe(303);
    });

    it.each([
      ['after five minutes', '-5 minutes'],
      ['when the clock is set back', '1 hour'],
    ])('ends %s', async (_, moved) => {
      await add(`${moved.replace(' ', '-')}@example.com`);
      const path = await console.linkOf(ours.slug, `${moved.replace(' ', '-')}@example.com`);
      await console.database.admin.query('UPDATE person SET link_expires_at = link_expires_at + $1::interval', [moved]);

      const used = await console.browser().post(path, (await console.browser().get(path)).fields());

      expect(used.status).toBe(403);
    });
  });

  describe('a session', () => {
    it('is a new one at each sign-in, and none when somebody else set a second cookie', async () => {
      const [planted, person] = [
        await console.signIn(ours.slug, 'admin'),
        ['--email', 'fixed@example.com', '--name', 'X'],
      ];
      const { id } = await console.admin('people', 'add', '--workspace', ours.slug, ...person, '--role', 'viewer');
      const path = await console.linkOf(ours.slug, 'fixed@example.com');
      const browser = console.browser();
      browser.cookies = { ...planted.cookies };

      const used = await browser.post(path, (await browser.get(path)).fields());

      expect([used.status, browser.cookies['console_session'] === planted.cookies['console_session']]).toEqual([
        303,
        false,
      ]);
      expect((await browser.get('/people')).status).toBe(403);
      const two = `console_session=${planted.cookies['console_session']}; console_session=${browser.cookies['console_session']}`;
      const both = await console.browser().get('/', { Cookie: two });
      expect([both.status, both.headers.get('location')]).toEqual([303, '/sign-in']);
      await console.admin('people', 'remove', '--workspace', ours.slug, id as string);
    });

    it('needs a cookie that scripts and other sites do not get', async () => {
      await add('cookie@example.com');
      const path = await console.linkOf(ours.slug, 'cookie@example.com');
      const browser = console.browser();

      const used = await browser.post(path, (await browser.get(path)).fields());

      expect(used.headers.getSetCookie()[0]).toMatch(/^console_session=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax$/);
    });

    it('ends at sign-out, after an hour without use, after eight hours, and when the clock is set back', async () => {
      const [out, idle, old, ahead] = [
        await console.signIn(ours.slug, 'viewer'),
        await console.signIn(ours.slug, 'viewer'),
        await console.signIn(ours.slug, 'viewer'),
        await console.signIn(ours.slug, 'viewer'),
      ];
      const kept = { ...out.cookies };

      const left = await out.submit('/', '/sign-out');
      out.cookies = kept;
      await age(idle.personId, `used_at = used_at - interval '61 minutes'`);
      await age(old.personId, `created_at = created_at - interval '481 minutes'`);
      await age(ahead.personId, `used_at = used_at + interval '61 minutes'`);

      expect([left.status, left.headers.get('location')]).toEqual([303, '/sign-in']);
      for (const browser of [out, idle, old, ahead]) {
        const shown = await browser.get('/');
        expect([shown.status, shown.headers.get('location')]).toEqual([303, '/sign-in']);
      }
    });

    it.each(['created_at', 'used_at'])('is forgotten at the next sign-in once it is over by %s', async (moment) => {
      const email = `over-${moment}@example.com`.replace('_', '-');
      const { personId } = await console.signIn(ours.slug, 'viewer', email);
      await age(personId, `${moment} = ${moment} - interval '8 hours'`);
      const path = await console.linkOf(ours.slug, email);
      const browser = console.browser();

      await browser.post(path, (await browser.get(path)).fields());

      const ofPerson = 'SELECT FROM console_session WHERE person_id = $1';
      expect((await console.database.admin.query(ofPerson, [personId])).rowCount).toBe(1);
    });

    it('stays while it is used', async () => {
      const viewer = await console.signIn(ours.slug, 'viewer');
      for (let rounds = 0; rounds < 3; rounds += 1) {
        await age(viewer.personId, `used_at = used_at - interval '40 minutes'`);
        expect((await viewer.get('/')).status).toBe(200);
      }
    });

    it('ends when its person is removed or erased, and keeps only the name until then', async () => {
      const [removed, erased] = [await console.signIn(ours.slug, 'viewer'), await console.signIn(ours.slug, 'viewer')];

      await console.admin('people', 'remove', '--workspace', ours.slug, removed.personId);
      await console.admin('people', 'erase', '--workspace', ours.slug, erased.personId, '--yes');

      for (const browser of [removed, erased]) expect((await browser.get('/')).status).toBe(303);
      const { rowCount } = await console.database.admin.query(
        'SELECT FROM console_session WHERE person_id = ANY ($1)',
        [[removed.personId, erased.personId]],
      );
      expect(rowCount).toBe(0);
      const late = await console.signIn(ours.slug, 'viewer');
      await console.database.admin.query('UPDATE person SET removed_at = now() WHERE id = $1', [late.personId]);
      expect((await late.get('/')).status).toBe(303);
      const { items } = (await console.admin('people', 'list', '--workspace', ours.slug)) as {
        items: { id: string; name: string | null; email: string | null; state: string }[];
      };
      const [one, other] = [removed, erased].map(({ personId }) => items.find(({ id }) => id === personId));
      expect(one).toMatchObject({ name: 'The viewer', state: 'removed' });
      expect(other).toMatchObject({ name: null, email: null, state: 'erased' });
    });
  });

  describe('every page', () => {
    it('sends its policy, and is not kept by a browser', async () => {
      const { headers } = await (await console.signIn(ours.slug, 'viewer')).get('/');

      const own = ['script', 'style', 'img'].map((kind) => `${kind}-src 'self'`);
      const policy = ["default-src 'none'", ...own, "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"];
      expect(headers.get('content-security-policy')?.split('; ').sort()).toEqual(policy.sort());
      expect(Object.fromEntries(headers)).toMatchObject({
        ...{ 'referrer-policy': 'same-origin', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
      });
      expect(headers.get('strict-transport-security')).toBeNull();
    });

    it('is refused under another Host, as after DNS rebinding', async () => {
      const status = await new Promise((resolve, reject) => {
        request(`${console.origin}/sign-in`, { headers: { Host: 'evil.example' } }, ({ statusCode }) =>
          resolve(statusCode),
        )
          .on('error', reject)
          .end();
      });

      expect(status).toBe(403);
    });
  });

  describe('a form', () => {
    it('is refused without its token, with the token of another session, and from another site', async () => {
      const [mine, theirs] = [await console.signIn(ours.slug, 'admin'), await console.signIn(ours.slug, 'admin')];
      const fields = (await mine.get('/')).fields('/sign-out');
      const stolen = (await theirs.get('/')).fields('/sign-out');
      const { csrf: _, ...without } = fields;

      const refused = [
        await mine.post('/sign-out', without),
        await mine.post('/sign-out', stolen),
        await mine.post('/sign-out', { ...fields, csrf: '' }),
        await mine.post('/sign-out', fields, { Origin: 'https://evil.example' }),
        await mine.post('/sign-out', fields, { Origin: 'null' }),
      ];

      expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
      expect((await mine.get('/')).status).toBe(200);
    });

    it('made for another workspace than that of the session is refused with 409, unless it signs out', async () => {
      const theirs = await console.aWorkspace('Theirs');
      const person = ['--email', 'both@example.com', '--name', 'Both', '--role', 'admin'];
      await console.admin('people', 'add', '--workspace', theirs.slug, ...person);
      const browser = await console.signIn(ours.slug, 'admin', 'both@example.com');
      const before = (await browser.get('/')).fields('/sign-out');

      const switched = await browser.submit('/workspaces', '/workspaces', { to: theirs.id });

      expect(switched.status).toBe(303);
      expect((await browser.get('/')).text).toContain('Theirs');
      const { rows } = await console.database.admin.query(
        `SELECT request_id FROM audit_event WHERE workspace_id = $1 AND action = 'person.signed_in'`,
        [theirs.id],
      );
      expect(rows).toEqual([{ request_id: switched.headers.get('x-request-id') }]);
      expect((await browser.post('/workspaces', { ...before, to: ours.id })).status).toBe(409);
      expect([(await browser.post('/sign-out', before)).status, browser.cookies]).toEqual([303, {}]);
    });

    it('that made a secret makes nothing after a way to another workspace and back', async () => {
      const theirs = await console.aWorkspace('There and back');
      const person = ['--email', 'back@example.com', '--name', 'Back', '--role', 'admin'];
      await console.admin('people', 'add', '--workspace', theirs.slug, ...person);
      const browser = await console.signIn(ours.slug, 'admin', 'back@example.com');
      const form = (await browser.get('/applications')).fields('/applications');
      const send = () => browser.post('/applications', { ...form, name: 'Once', scopes: 'inventory:read' });
      const first = await send();

      for (const to of [theirs.id, ours.id]) await browser.submit('/workspaces', '/workspaces', { to });
      const again = await send();

      expect([first.status, again.status]).toEqual([200, 303]);
      expect((await browser.get('/applications')).text.match(/>Once</g)).toHaveLength(1);
    });

    it('cannot lead to a workspace of others', async () => {
      const foreign = await console.aWorkspace('Foreign');
      const browser = await console.signIn(ours.slug, 'admin');

      expect((await browser.submit('/workspaces', '/workspaces', { to: foreign.id })).status).toBe(404);
    });
  });

  describe('the limit of 20 failed sign-ins a minute', () => {
    const linkTo = (workspace: string, secret: string) => `/sign-in/link/${workspace}.${secret}`;
    const wrong = linkTo('00000000-0000-4000-8000-000000000000', 'x'.repeat(43));
    let limited: TestConsole;
    beforeEach(async () => {
      limited = await startConsole({}, console.database);
    });
    afterEach(() => limited.stop());
    /** One comes back every three seconds. */
    const since = (): number => performance.now();
    const most = (start: number): number => 20 + Math.ceil((since() - start) / 3_000);

    it('holds for guesses that come at the same time', async () => {
      const start = since();
      const fields = (await limited.browser().get(wrong)).fields();

      const guesses = await Promise.all(Array.from({ length: 60 }, () => limited.browser().post(wrong, fields)));

      const tried = guesses.filter(({ status }) => status === 403).length;
      expect([tried >= 20, tried <= most(start)]).toEqual([true, true]);
      const [one, ...others] = guesses.filter(({ status }) => status === 429);
      expect([others.length, one?.text.includes('minute')]).toEqual([59 - tried, false]);
      expect(one?.headers.get('retry-after')).toMatch(/^[123]$/);
      const reason = 'too many sign-ins failed from this address';
      expect(limited.logLines.filter((line) => line['reason'] === reason)).toHaveLength(60 - tried);
    });

    it('counts no sign-in that succeeds', async () => {
      for (let round = 0; round < 30; round += 1) {
        const secret = randomBytes(32).toString('base64url');
        await console.database.admin.query(
          `INSERT INTO person (workspace_id, email, name, role, link_digest, link_expires_at)
           VALUES ($1, $2, 'X', 'viewer', sha256(convert_to($3, 'UTF8')), now() + interval '5 minutes')`,
          [ours.id, `many-${round}@example.com`, secret],
        );
        const path = linkTo(ours.id, secret);
        expect((await limited.browser().post(path, (await limited.browser().get(path)).fields())).status).toBe(303);
      }

      const fields = (await limited.browser().get(wrong)).fields();
      const guesses = await Promise.all(Array.from({ length: 15 }, () => limited.browser().post(wrong, fields)));

      expect(guesses.map(({ status }) => status)).toEqual(guesses.map(() => 403));
      const metrics = await limited.app.get(Metrics).expose();
      expect(metrics.match(/^compliance_console_sign_ins_total.*$/gm)).toEqual([
        'compliance_console_sign_ins_total{outcome="signed_in"} 30',
        'compliance_console_sign_ins_total{outcome="refused"} 15',
        'compliance_console_sign_ins_total{outcome="limited"} 0',
      ]);
    });
  });

  describe('the last administrator', () => {
    it('stays, unless --yes-last-admin says otherwise', async () => {
      const { slug } = await console.aWorkspace();
      const { personId } = await console.signIn(slug, 'admin');
      const words = [['remove'], ['erase', '--yes'], ['set-role', '--role', 'viewer']];

      for (const [command = '', ...options] of words) {
        await expect(console.admin('people', command, '--workspace', slug, personId, ...options)).rejects.toThrow(
          'last administrator',
        );
      }

      await expect(
        console.admin('people', 'remove', '--workspace', slug, personId, '--yes-last-admin'),
      ).resolves.toMatchObject({ state: 'removed' });
    });

    it('is the last one although another one was added who can no longer sign in', async () => {
      const { slug } = await console.aWorkspace();
      const last = await console.signIn(slug, 'admin');
      const closed = ['--email', `closed@${slug}.example`, '--name', 'Closed', '--role', 'admin'];
      const { id } = await console.admin('people', 'add', '--workspace', slug, ...closed);
      await console.database.admin.query(`UPDATE person SET added_at = now() - interval '15 days' WHERE id = $1`, [id]);

      const kept = await last.submit('/people', `/people/${last.personId}/remove`);
      const removed = await last.submit('/people', `/people/${String(id)}/remove`);

      expect([kept.status, removed.status]).toEqual([409, 303]);
    });
  });

  it('closes a person who did not sign in within 14 days, until added again', async () => {
    const person = ['--workspace', ours.slug, '--email', 'slow@example.com'];
    const add = () => console.admin('people', 'add', ...person, '--name', 'Slow', '--role', 'viewer');
    await add();
    await expect(add()).rejects.toThrow('there already');
    await console.database.admin.query(
      `UPDATE person SET added_at = added_at - interval '14 days 1 minute' WHERE email = 'slow@example.com'`,
    );

    await expect(console.admin('console', 'link', ...person)).rejects.toThrow('no such person');
    await add();

    await expect(console.admin('console', 'link', ...person)).resolves.toHaveProperty('url');
  });

  describe('in production', () => {
    const production = {
      NODE_ENV: 'production',
      CONSOLE_DATABASE_URL: 'postgres://console@db.example/compliance',
      CONSOLE_URL: 'https://console.example.com',
      CONSOLE_OIDC_ISSUER: 'https://id.example.com',
      CONSOLE_OIDC_CLIENT_ID: 'console',
      CONSOLE_OIDC_SECRET_FILE: '/run/secrets/console',
      SIGNING_KEYS_DIR: mkdtempSync(join(tmpdir(), 'keys-')),
      CURSOR_KEYS_FILE: join(localKeys(), 'cursor.json'),
      SECRET_PEPPER_FILE: join(localKeys(), 'pepper'),
      AUDIT_KEY_FILE: join(localKeys(), 'audit'),
    };

    it('starts with an issuer, an https address and no signing key', async () => {
      await expect(loadConsoleSettings(production)).resolves.toHaveProperty('production', true);
    });

    it.each([
      [
        'keys that sign tokens or checkpoints',
        { SIGNING_KEYS_DIR: join(localKeys(), 'signing') },
        'SIGNING_KEYS_DIR holds keys',
      ],
      ['an address without https', { CONSOLE_URL: 'http://console.example.com' }, 'CONSOLE_URL must be an https'],
      [
        'no issuer',
        { CONSOLE_OIDC_ISSUER: '', CONSOLE_OIDC_CLIENT_ID: '', CONSOLE_OIDC_SECRET_FILE: '' },
        'CONSOLE_OIDC_ISSUER',
      ],
      ['half an issuer', { CONSOLE_OIDC_CLIENT_ID: '' }, 'must be set together'],
      ['no database role of its own', { CONSOLE_DATABASE_URL: '' }, 'CONSOLE_DATABASE_URL is required'],
    ])('refuses to start with %s', async (_, changed, message) => {
      await expect(loadConsoleSettings({ ...production, ...changed })).rejects.toThrow(message);
    });
  });
});
