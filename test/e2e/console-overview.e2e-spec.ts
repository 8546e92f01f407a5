import { Database } from '#libs/platform/database';
import { POSTURES } from '../../libs/computers/src/domain/posture';
import { FACETS } from '../../libs/inventory/src/assets/domain/asset-filter';
import { arrangeEveryResource } from '../contract/every-resource';
import { type ConsoleBrowser, type TestConsole, startConsoleWithApi } from '../support/console-setting';
import type { TestApp } from '../support/start-app';

const isAll =
  (state: string) =>
  ({ checks }: (typeof POSTURES)[number]): boolean =>
    Object.values(checks).every((one) => one === state);

describe('The overview of the console', () => {
  let console: TestConsole;
  let api: TestApp;
  let ours: { id: string; slug: string };
  let viewer: ConsoleBrowser;
  beforeAll(async () => {
    ({ console, api } = await startConsoleWithApi());
    ours = await console.aWorkspace('Ours');
    await arrangeEveryResource(api, ours.id);
    viewer = await console.signIn(ours.slug, 'viewer');
  });
  afterAll(() => console.stop());

  it('tells totals, owners, checks and sources at a glance', async () => {
    const age = "UPDATE import_run SET ended_at = now() - interval '2 days' WHERE workspace_id = $1 AND source = 'hr'";
    await console.database.admin.query(age, [ours.id]);

    const { text } = await viewer.get('/');

    expect(text).toMatch(/Cloud resources<\/a><\/td>\s*<td[^>]*>1<\/td>\s*<td[^>]*>1<\/td>/);
    expect(text).toMatch(/<meter [^>]*aria-label="100 % have an owner"/);
    expect(text).toContain('Disk encryption');
    const fresh = [...text.matchAll(/<td>(\w+)<\/td>(?:(?!<\/tr>)[^])*"Fresh"><span[^>]*>([^<]*)/g)];
    expect(fresh.map((row) => row.slice(1).join(' '))).toEqual(expect.arrayContaining(['hr stale', 'mdm yes']));
    expect(text).toContain('no limit is set');
  });

  it('counts the computers once for all checks', async () => {
    const read = jest.spyOn(console.app.get(Database), 'read');
    await viewer.get('/');
    const sent = read.mock.calls.flatMap(([, statements]) => statements.map(({ text }) => text));
    read.mockRestore();

    expect(sent.filter((text) => /_counts_at|_computer\b/.test(text))).toHaveLength(2);
  });

  it('draws ninety days of owners and checks, with the same as a table', async () => {
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const write = (workspace: string, ago: number, assets: object, computers: object) =>
      api.arrange.change(workspace, 'INSERT INTO day_count VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', [
        ...[workspace, day(ago), JSON.stringify(assets), JSON.stringify(computers)],
      ]);
    const { slug, id } = await console.aWorkspace();
    const browser = await console.signIn(slug, 'viewer');
    const empty = (await browser.get('/')).text;
    expect(empty).toContain('come with the first day that is over');
    expect([empty.includes('<meter'), empty.split('>–<').length - 1]).toEqual([false, 8]);
    const [none, all] = [POSTURES.findIndex(isAll('FAILING')), POSTURES.findIndex(isAll('PASSING'))];
    const withOwner = FACETS.findIndex(({ hasOwner }) => hasOwner);
    const without = FACETS.findIndex(({ hasOwner }) => !hasOwner);
    await write(id, 1, [[1, withOwner, 2], [1, without, 1]], [[all, 3], [none, 1]]); // prettier-ignore
    await write(id, 90, [[1, without, 4]], [[none, 1]]);
    await write(id, 91, [[1, without, 4]], [[none, 1]]);
    const theirs = await console.aWorkspace();
    await write(theirs.id, 2, [[1, without, 4]], [[none, 1]]);

    // Without the key Postgres reads the days as they were written, not in their order.
    const key = 'ADD CONSTRAINT day_count_pkey PRIMARY KEY (workspace_id, day)';
    await console.database.admin.query('ALTER TABLE day_count DROP CONSTRAINT day_count_pkey');
    const { text } = await browser.get('/').finally(() => console.database.admin.query(`ALTER TABLE day_count ${key}`));

    expect(text).toContain('aria-label="Cloud resources: 66 % have an owner"');
    expect(text).toContain('aria-label="Disk encryption: 75 % pass"');
    expect([...text.matchAll(/<th scope="row">([\d-]+)<\/th><td>([^<]+)</g)].map((row) => row.slice(1))).toEqual([
      ...[[day(1), '66'], [day(90), '0'], [day(1), '75'], [day(90), '0']], // prettier-ignore
    ]);
  });
});
