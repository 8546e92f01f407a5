import { type TestConsole, startConsole } from '../support/console-setting';
import { People } from '../../libs/console/src/typeorm/people';
import { someoneWaits } from '../support/waiting-sessions';

const XSS = '<img src=x onerror=alert(1)>"\'';
const ESCAPED = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;';

describe('The people of the console', () => {
  let console: TestConsole;
  let ours: { id: string; slug: string };
  beforeAll(async () => {
    console = await startConsole();
    ours = await console.aWorkspace('Ours');
  });
  afterAll(() => console.stop());

  it('are added, get another role and are removed, by an administrator', async () => {
    const admin = await console.signIn(ours.slug, 'admin');

    const added = await admin.submit('/people', '/people', { name: XSS, email: 'new@example.com', role: 'viewer' });
    const again = await admin.submit('/people', '/people', { name: 'New', email: 'NEW@example.com', role: 'viewer' });
    const wrong = await admin.submit('/people', '/people', { name: '', email: 'x', role: 'root' });

    expect([added.status, again.status, wrong.status]).toEqual([303, 400, 400]);
    for (const name of ['name', 'role']) expect(wrong.text).toContain(`id="${name}-error"`);
    const spaced = await admin.submit('/people', '/people', { name: 'A', email: 'a b@example.com', role: 'viewer' });
    expect([spaced.status, /id="email-error">([^<]*)</.exec(spaced.text)?.[1]]).toEqual([
      400,
      'This is no e-mail address.',
    ]);
    const page = await admin.get('/people');
    expect(page.text).toContain('No mail is sent.');
    expect([page.text.includes('<img'), page.text.includes(ESCAPED)]).toEqual([false, true]);
    const { items } = (await console.admin('people', 'list', '--workspace', ours.slug)) as {
      items: { id: string; email: string; role: string; state: string }[];
    };
    const id = items.find(({ email }) => email === 'new@example.com')?.id ?? '';
    expect(page.text).toMatch(new RegExp(`<details><summary[^>]*>Remove(?:(?!</details>)[^])*/people/${id}/remove`));
    const raised = await admin.submit('/people', `/people/${id}/role`);
    const removed = await admin.submit('/people', `/people/${id}/remove`);
    const twice = await admin.post(`/people/${id}/remove`, page.fields('/people'));
    expect([raised.status, removed.status, twice.status]).toEqual([303, 303, 404]);
    const { rows } = await console.database.admin.query(
      'SELECT action, actor_type, actor_name, request_id FROM audit_event WHERE target_id = $1 ORDER BY id',
      [id],
    );
    const acts = Object.entries({ 'person.added': added, 'person.role_set': raised, 'person.removed': removed });
    expect(rows).toEqual(
      acts.map(([action, { headers }]) => ({
        ...{ action, actor_type: 'PERSON', actor_name: admin.personId },
        request_id: headers.get('x-request-id'),
      })),
    );
    expect((await (await console.signIn(ours.slug, 'viewer')).get('/people')).status).toBe(403);
  });

  it("are absent for another workspace's administrator", async () => {
    const { slug } = await console.aWorkspace('Theirs');
    const stranger = await console.signIn(slug, 'admin');
    const { personId } = await console.signIn(ours.slug, 'viewer');
    const form = { ...(await stranger.get('/people')).fields('/people'), role: 'admin' };

    const sent = [
      await stranger.post(`/people/${personId}/role`, form),
      await stranger.post(`/people/${personId}/remove`, form),
    ];

    expect(sent.map(({ status }) => status)).toEqual([404, 404]);
    const { items } = await console.admin('people', 'list', '--workspace', ours.slug);
    expect(items).toContainEqual(expect.objectContaining({ id: personId, role: 'viewer', state: 'open' }));
  });

  it('are erased without a word of their role', async () => {
    const { personId } = await console.signIn(ours.slug, 'viewer');

    await console.admin('people', 'erase', '--workspace', ours.slug, personId, '--yes');

    const { rows } = await console.database.admin.query(
      `SELECT action, changes FROM audit_event WHERE target_id = $1 AND action <> 'person.signed_in' ORDER BY id`,
      [personId],
    );
    expect(rows.at(-1)).toEqual({ action: 'person.erased', changes: {} });
  });

  it('are opened again once, by the first of two who add a closed one at once', async () => {
    const admin = await console.signIn(ours.slug, 'admin');
    const added = { name: 'Late', email: 'late@example.com', role: 'viewer' };
    await admin.submit('/people', '/people', added);
    await console.database.admin.query(`UPDATE person SET added_at = now() - interval '15 days' WHERE name = 'Late'`);
    const form = { ...(await admin.get('/people')).fields('/people'), ...added };

    await console.database.admin.query(`BEGIN; UPDATE person SET email = email WHERE name = 'Late'`);
    const sent = [admin.post('/people', form), admin.post('/people', form)];
    await someoneWaits(console.database, 2);
    await console.database.admin.query('ROLLBACK');

    expect((await Promise.all(sent)).map(({ status }) => status).sort()).toEqual([303, 400]);
  });

  it.each([-20, 20])(
    'are closed by the clock of the database, where that of the console is off by %i days',
    async (days) => {
      const { slug } = await console.aWorkspace();
      const last = await console.signIn(slug, 'admin');
      const added = { role: 'admin', name: 'New', email: 'new@clock.example' };
      await last.submit('/people', '/people', added);
      await last.submit('/people', '/people', { ...added, name: 'Closed', email: 'closed@clock.example' });
      await console.database.admin.query(
        `UPDATE person SET added_at = now() - interval '15 days' WHERE name = 'Closed'`,
      );
      const clock = Date.now.bind(Date);
      jest.spyOn(Date, 'now').mockImplementation(() => clock() + days * 86_400_000);

      const [page, again] = [await last.get('/people'), await last.submit('/people', '/people', added)];
      jest.restoreAllMocks();

      expect([again.status, page.text.split('did not come within 14 days').length]).toEqual([400, 2]);
    },
  );

  it('are closed where they were added before the clock of the database was set back', async () => {
    const { slug } = await console.aWorkspace();
    const admin = await console.signIn(slug, 'admin');
    await admin.submit('/people', '/people', { role: 'admin', name: 'Ahead', email: 'ahead@clock.example' });
    await console.database.admin.query(`UPDATE person SET added_at = now() + interval '2 hours' WHERE name = 'Ahead'`);

    const [page, removed] = [
      await admin.get('/people'),
      await admin.submit('/people', `/people/${admin.personId}/remove`),
    ];

    expect([page.text.includes('did not come within 14 days'), removed.status]).toEqual([true, 409]);
    const found = `SELECT FROM console_memberships('', '', 'ahead@clock.example')`;
    expect((await console.database.admin.query(found)).rowCount).toBe(0);
  });

  it('are a thousand at most, unless an operator adds more', async () => {
    const { id, slug } = await console.aWorkspace();
    const admin = await console.signIn(slug, 'admin');
    await console.database.admin.query(
      `INSERT INTO person (workspace_id, email, name, role)
       SELECT $1, 'p' || n || '@example.com', 'One of many', 'viewer' FROM generate_series(1, 999) AS n`,
      [id],
    );
    const added = { name: 'More', email: 'more@example.com', role: 'viewer' };

    const refused = await admin.submit('/people', '/people', added);
    const another = ['--email', 'x@example.com', '--name', 'X', '--role', 'viewer'];
    await console.admin('people', 'add', '--workspace', slug, ...another);
    await console.database.admin.query(`UPDATE person SET removed_at = now() WHERE name = 'One of many'`);

    expect([refused.status, refused.text.includes('The workspace has 1,000 people.')]).toEqual([400, true]);
    expect((await admin.get('/people')).text).not.toContain('One of many');
    expect((await admin.submit('/people', '/people', added)).status).toBe(303);
  });

  it('are asked for by id where a page names a few of them', async () => {
    const admin = await console.signIn(ours.slug, 'admin');
    const asked = jest.spyOn(console.app.get(People), 'list');

    await admin.get('/audit');
    const calls = [...asked.mock.calls];
    asked.mockRestore();

    expect(calls).toEqual([[ours.id, expect.any(Array)]]);
  });

  it('keep one administrator', async () => {
    const { slug } = await console.aWorkspace();
    const admin = await console.signIn(slug, 'admin');

    const [removed, demoted] = [
      await admin.submit('/people', `/people/${admin.personId}/remove`),
      await admin.submit('/people', `/people/${admin.personId}/role`),
    ];

    expect([removed.status, demoted.status]).toEqual([409, 409]);
    expect(removed.text).toContain('last administrator');
  });

  it('keep one of two administrators who remove each other at once', async () => {
    const { slug } = await console.aWorkspace();
    const [one, two] = [await console.signIn(slug, 'admin'), await console.signIn(slug, 'admin')];
    const [first, second] = [await one.get('/people'), await two.get('/people')];

    await Promise.all([
      one.post(`/people/${two.personId}/remove`, first.fields('/people')),
      two.post(`/people/${one.personId}/remove`, second.fields('/people')),
    ]);

    const { items } = (await console.admin('people', 'list', '--workspace', slug)) as { items: { state: string }[] };
    expect(items.filter(({ state }) => state === 'open')).toHaveLength(1);
  });
});
