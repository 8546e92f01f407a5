import { AuditRecorder } from '#libs/audit/operators';
import { Database } from '#libs/platform/database';
import { Sessions } from '../../libs/console/src/typeorm/sessions';
import { type TestConsole, startConsole } from '../support/console-setting';

describe('The switch of workspaces', () => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console.stop());
  afterEach(() => jest.restoreAllMocks());

  /** Signs somebody in who is a person of two workspaces. */
  const somebodyOfTwo = async () => {
    const [ours, theirs] = [await console.aWorkspace('Ours'), await console.aWorkspace('Theirs')];
    const email = `${ours.slug}@example.com`;
    const person = ['--email', email, '--name', 'Both', '--role', 'admin'];
    await console.admin('people', 'add', '--workspace', theirs.slug, ...person);
    return { browser: await console.signIn(ours.slug, 'admin', email), theirs };
  };

  const leftIn = async (workspace: string): Promise<object | undefined> => {
    const { rows } = await console.database.admin.query<object>(
      `SELECT signed_in_at, (SELECT count(*)::int FROM console_session WHERE workspace_id = $1) AS sessions,
              (SELECT count(*)::int FROM audit_event WHERE workspace_id = $1 AND action = 'person.signed_in') AS events
         FROM person WHERE workspace_id = $1`,
      [workspace],
    );
    return rows[0];
  };
  const nothing = { signed_in_at: null, sessions: 0, events: 0 };

  it('counts as a sign-in, so that the person is not closed after 14 days', async () => {
    const { browser, theirs } = await somebodyOfTwo();

    await browser.submit('/workspaces', '/workspaces', { to: theirs.id });

    const { items } = await console.admin('people', 'list', '--workspace', theirs.slug);
    expect(items).toEqual([expect.objectContaining({ signedInAt: expect.any(String) as string })]);
  });

  it('leaves nothing in a workspace that removed the person meanwhile', async () => {
    const { browser, theirs } = await somebodyOfTwo();
    const { items } = await console.admin('people', 'list', '--workspace', theirs.slug);
    const [{ id = '' } = {}] = items as { id: string }[];
    const sessions = console.app.get(Sessions);
    const move = sessions.move.bind(sessions);
    jest.spyOn(sessions, 'move').mockImplementationOnce(async (...args) => {
      await console.admin('people', 'remove', '--workspace', theirs.slug, id, '--yes-last-admin');
      return move(...args);
    });

    const { status, headers } = await browser.submit('/workspaces', '/workspaces', { to: theirs.id });

    expect([status, headers.getSetCookie()]).toEqual([303, []]);
    expect(await leftIn(theirs.id)).toEqual(nothing);
  });

  it('leaves nothing where no event of it can be recorded', async () => {
    const { browser, theirs } = await somebodyOfTwo();
    const form = { ...(await browser.get('/workspaces')).fields('/workspaces'), to: theirs.id };
    jest.spyOn(AuditRecorder.prototype, 'recordAct').mockRejectedValueOnce(new Error('no event'));

    const { status } = await browser.post('/workspaces', form);

    expect(status).toBe(500);
    expect(await leftIn(theirs.id)).toEqual(nothing);
  });

  it('keeps the person signed in while a request with the cookie from before is answered', async () => {
    const { browser, theirs } = await somebodyOfTwo();
    const late = console.browser();
    late.cookies = { ...browser.cookies };
    await browser.submit('/workspaces', '/workspaces', { to: theirs.id });

    const { status, headers } = await late.get('/');

    expect([status, headers.get('location'), headers.getSetCookie()]).toEqual([303, '/sign-in', []]);
  });

  it('lets nobody wait for a connection while somebody of 200 workspaces looks at them, and switches', async () => {
    const { browser, theirs } = await somebodyOfTwo();
    await console.database.admin.query(
      `WITH more AS (INSERT INTO workspace (id, slug, name)
                     SELECT gen_random_uuid(), 'one-of-many-' || n, 'More ' || n FROM generate_series(1, 200) AS n RETURNING id)
       INSERT INTO person (workspace_id, email, name, role)
       SELECT more.id, person.email, 'Both', 'viewer' FROM more, person WHERE person.workspace_id = $1`,
      [theirs.id],
    );
    const database = console.app.get(Database);
    let waiting = 0;
    const look = setInterval(() => (waiting = Math.max(waiting, database.poolUse.waiting)), 1);

    const page = await browser.get('/workspaces');
    const { status } = await browser.post('/workspaces', { ...page.fields('/workspaces'), to: theirs.id });
    clearInterval(look);

    expect([status, page.text.split('Switch to').length - 1, waiting]).toEqual([303, 201, 0]);
    expect(page.text).toContain('Switch to More 200<');
  });

  it('leads on when its form is sent twice at once', async () => {
    const { browser, theirs } = await somebodyOfTwo();
    const form = { ...(await browser.get('/workspaces')).fields('/workspaces'), to: theirs.id };
    const sessions = console.app.get(Sessions);
    const move = sessions.move.bind(sessions);
    const waiting: (() => void)[] = [];
    const together = jest.spyOn(sessions, 'move').mockImplementation(async (...args) => {
      if (waiting.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      else waiting[0]?.();
      return move(...args);
    });

    const sent = await Promise.all([browser.post('/workspaces', form), browser.post('/workspaces', form)]);
    together.mockRestore();

    expect(sent.map(({ status, headers }) => `${status} ${headers.get('location')}`)).toEqual(['303 /', '303 /']);
    expect((await browser.get('/')).text).toContain('Theirs');
  });
});
