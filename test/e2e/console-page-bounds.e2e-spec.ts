import { type ConsoleBrowser, type TestConsole, startConsoleWithApi } from '../support/console-setting';
import { Sealing } from '../support/sealing';
import type { TestApp } from '../support/start-app';

const MOST_CHARACTERS = 1_500_000;
/** Becomes six characters of HTML. */
const QUOTE = '"';
const FULL = 'The rest is too long for this page.';

describe('A page of the console, however much there is to show', () => {
  let console: TestConsole;
  let api: TestApp;
  let ours: { id: string; slug: string };
  let admin: ConsoleBrowser;
  beforeAll(async () => {
    ({ console, api } = await startConsoleWithApi());
    ours = await console.aWorkspace();
    admin = await console.signIn(ours.slug, 'admin');
  });
  afterAll(() => console.stop());

  /** An asset with as many tags as an import takes, and the states before it. */
  const anAssetWithTags = async (states: number): Promise<string> => {
    const { id } = await api.arrange.anAsset(ours.id);
    const tags = Array.from({ length: 900 }, (_, n) => ({ key: QUOTE.repeat(900) + n, value: null, readOnly: false }));
    for (let n = 0; n < states; n += 1) {
      const text = JSON.stringify(tags.slice(n));
      await api.arrange.change(ours.id, 'UPDATE asset SET tags = $2 WHERE public_id = $1', [id, text]);
    }
    return `/inventory/${id}`;
  };

  it('shows the beginning of each text of an asset', async () => {
    const { text } = await admin.get(await anAssetWithTags(12));

    expect(text).toMatch(/<dt>Tags<\/dt><dd>(?:&quot;)+11, /);
    expect(text.match(/&quot;…/g)?.length).toBeGreaterThan(2);
    expect(text.length).toBeLessThan(MOST_CHARACTERS);
  });

  it('shows the beginning of each text in the audit', async () => {
    for (let n = 0; n < 3; n += 1) {
      const path = await anAssetWithTags(1);
      expect((await admin.submit(path, `${path}/tags`, { tags: '' })).status).toBe(303);
    }
    await Sealing.once(api);

    const { text } = await admin.get('/audit?action=asset.updated');

    expect(text.match(/…<\/del>/g)?.length).toBeGreaterThan(1);
    expect(text.length).toBeLessThan(MOST_CHARACTERS);
  });

  it.each(['description', 'classification', 'tags'])('shows the beginning of a %s that it refuses', async (field) => {
    const path = await anAssetWithTags(1);
    const fields = (await admin.get(path)).fields(`${path}/${field}`);
    const body = `${new URLSearchParams(fields).toString()}&${field}=${QUOTE.repeat(250_000)}`;
    const headers = { Cookie: admin.cookieHeader, Origin: console.origin };
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const response = await fetch(`${console.origin}${path}/${field}`, {
      ...{ method: 'POST', body },
      headers: { ...headers, ...type },
    });
    const text = await response.text();

    expect(response.status).toBe(400);
    expect(text).toContain(`>${'&quot;'.repeat(20_000)}…</`);
    expect(text.length).toBeLessThan(MOST_CHARACTERS);
  });

  it('ends a list that is too long, and says so', async () => {
    const people = `INSERT INTO person (workspace_id, email, name, role)
                    SELECT $1, repeat('"', 250) || n, repeat('"', 200), 'viewer' FROM generate_series(1, 998) AS n`;
    await api.arrange.change(ours.id, people, [ours.id]);

    const { text } = await admin.get('/people');

    expect(text.length).toBeLessThan(MOST_CHARACTERS);
    expect(text.split(FULL)).toHaveLength(2);
    expect(text).toContain('Add a person');
  });

  it('shows a thousand people with usual names', async () => {
    const { id, slug } = await console.aWorkspace();
    const browser = await console.signIn(slug, 'admin');
    const people = `INSERT INTO person (workspace_id, email, name, role)
                    SELECT $1, 'alexandra.mustermann' || n || '@example.com', 'Alexandra Mustermann ' || n, 'viewer'
                      FROM generate_series(1, 999) AS n`;
    await api.arrange.change(id, people, [id]);

    const { text } = await browser.get('/people');

    expect(text.match(/<tr>/g)).toHaveLength(1_001);
    expect(text).not.toContain(FULL);
  });
});
