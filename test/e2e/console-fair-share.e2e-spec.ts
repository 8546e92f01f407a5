import { type TestConsole, startConsole } from '../support/console-setting';
import { someoneWaits } from '../support/waiting-sessions';

describe('A person who asks for many pages of the console at once', () => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console.stop());

  it('gets three of them, then 429 with a page that loads itself again, and others get theirs', async () => {
    const { slug } = await console.aWorkspace();
    const [many, other] = [await console.signIn(slug, 'viewer'), await console.signIn(slug, 'viewer')];
    const form = (await many.get('/')).fields('/sign-out');

    await console.database.admin.query('BEGIN; LOCK TABLE import_run IN ACCESS EXCLUSIVE MODE');
    const first = [1, 2, 3].map(() => many.get('/imports'));
    await someoneWaits(console.database, 3);
    const page = await many.get('/imports');
    const [others, signedOut] = [await other.get('/computers'), await many.post('/sign-out', form)];
    await console.database.admin.query('ROLLBACK');

    expect([page.status, page.headers.get('refresh')]).toEqual([429, '1']);
    expect(page.text).toContain('Too many of your pages are under way.');
    expect([others.status, signedOut.status]).toEqual([200, 303]);
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('gets the next one when one of them is there', async () => {
    const { slug } = await console.aWorkspace();
    const person = await console.signIn(slug, 'viewer');

    for (let times = 0; times < 5; times += 1) expect((await person.get('/imports')).status).toBe(200);
  });
});
