import { arrangeEveryResource } from '../contract/every-resource';
import { type ConsoleBrowser, type TestConsole, startConsoleWithApi } from '../support/console-setting';
import { Sealing } from '../support/sealing';
import type { TestApp } from '../support/start-app';

const XSS = '<img src=x onerror=alert(1)>"\'';
const ESCAPED = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;';

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const numbersIn = (text: string) => [...text.matchAll(/No. (\d+)</g)].map(([, sequence]) => Number(sequence));

describe('The audit in the console', () => {
  let console: TestConsole;
  let api: TestApp;
  let viewer: ConsoleBrowser;
  beforeAll(async () => {
    ({ console, api } = await startConsoleWithApi());
    const { id, slug } = await console.aWorkspace();
    await arrangeEveryResource(api, id);
    viewer = await console.signIn(slug, 'viewer');
  });
  afterAll(() => console.stop());

  it('takes days as people write them, the last one included', async () => {
    // The update may be of the day before.
    const path = `/audit?since=${dayBefore(1)}&until=${dayBefore(0)}`;
    const [before, after] = [await viewer.get(path), await viewer.get('/audit?until=2020-01-01')];

    expect(before.text).toContain('<td data-label="Action">asset.updated</td>');
    expect(before.text).toContain(`name="until" value="${dayBefore(0)}" type="date"`);
    expect([after.status, after.text.includes('No event matches')]).toEqual([200, true]);
  });

  it('keeps the first and the last day on every page, also for the download', async () => {
    const days = { since: dayBefore(1), until: dayBefore(0) };
    const all = `/audit?since=${days.since}&until=${days.until}`;
    const seen = new Set<number>();
    let path: string | undefined = `${all}&pageSize=1`;
    while (path !== undefined) {
      const { status, text } = await viewer.get(path);
      expect(status).toBe(200);
      for (const [name, day] of Object.entries(days))
        expect(text).toContain(`name="${name}" value="${day}" type="date"`);
      expect(text).toContain(`/audit/download?since=${days.since}&amp;until=`);
      for (const sequence of numbersIn(text)) seen.add(sequence);
      path = /href="([^"]*pageCursor[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }

    expect([...seen].sort()).toEqual(numbersIn((await viewer.get(all)).text).sort());
    expect(seen.size).toBeGreaterThan(2);
  });

  it('says that older events are not the latest, and that a file without a first day begins with them', async () => {
    const [all, part, chosen] = [
      await viewer.get('/audit'),
      await viewer.get('/audit?pageSize=1'),
      await viewer.get(`/audit?since=${dayBefore(1)}`),
    ];

    expect(part.text).toMatch(/These are not the latest\. <a href="[^"]*pageCursor/);
    expect(all.text).not.toContain('not the latest');
    expect(all.text).toContain('The file begins with the oldest event');
    expect(chosen.text).not.toContain('The file begins');
  });

  it.each([
    ['first', '0001-01-01', 0],
    ['last', '9999-12-31', 4],
  ])('takes the %s day that there is', async (_which, day, events) => {
    const { status, text } = await viewer.get(`/audit?action=asset.updated&until=${day}`);

    expect([status, numbersIn(text).length]).toEqual([200, events]);
  });

  it('shows whatever it names as text', async () => {
    const { id, slug } = await console.aWorkspace();
    const browser = await console.signIn(slug, 'viewer');
    const named = ['--workspace', slug, '--name', XSS];
    await console.admin('people', 'add', ...named, '--email', 'x@example.com', '--role', 'viewer');
    await console.admin('applications', 'create', ...named, '--scope', 'all:read');
    const asset = await api.arrange.anAsset(id, { name: XSS });
    await (await api.arrange.aClient(id)).patch(`/v1/inventory/assets/${asset.id}`, { description: XSS });
    await Sealing.once(api);

    for (const [query, times] of [
      [`assetId=${asset.id}`, 2],
      ['action=person.added', 1],
      ['action=application.created', 1],
    ] as const) {
      const { text } = await browser.get(`/audit?${query}`);
      expect([query, text.includes('<img'), text.split(ESCAPED).length - 1]).toEqual([query, false, times]);
    }
  });

  it('shows an asset by its id where those before it have more than a page may read', async () => {
    const { id, slug } = await console.aWorkspace();
    const browser = await console.signIn(slug, 'viewer');
    const client = await api.arrange.aClient(id);
    const assets = [];
    for (const name of ['First', 'Second', 'Third']) {
      const asset = await api.arrange.anAsset(id, { name });
      await client.patch(`/v1/inventory/assets/${asset.id}`, { description: 'Changed' });
      assets.push(asset);
    }
    const tags = JSON.stringify([{ key: 'x'.repeat(4_000_000), value: null, readOnly: true }]);
    await api.arrange.change(id, 'UPDATE asset SET tags = $2 WHERE workspace_id = $1', [id, tags]);
    await Sealing.once(api);

    const { text } = await browser.get('/audit?action=asset.updated');

    const named = [...text.matchAll(/<a href="\/inventory\/[^"]*">([^<]*)/g)].map(([, name]) => name);
    expect(named).toEqual([assets[2]?.id, 'Second', 'First']);
  });

  it('names a person who was removed, until an operator erases the name', async () => {
    const { slug } = await console.aWorkspace();
    const [gone, reader] = [await console.signIn(slug, 'admin'), await console.signIn(slug, 'viewer')];
    await Sealing.once(api);
    const authors = async () => {
      const { text } = await reader.get('/audit?action=person.signed_in');
      return Array.from(text.matchAll(/data-label="Who">([^<]*)</g), ([, who]) => who).sort();
    };

    await console.admin('people', 'remove', '--workspace', slug, gone.personId, '--yes-last-admin');
    const removed = await authors();
    await console.admin('people', 'erase', '--workspace', slug, gone.personId, '--yes');

    expect(removed).toEqual(['person The admin', 'person The viewer']);
    expect(await authors()).toEqual(['person (erased)', 'person The viewer']);
  });

  it('shows a hundred events at most, however many an address asks for, and leads to the others', async () => {
    const { id, slug } = await console.aWorkspace();
    const ids = await api.arrange.manyAssets(id, 100);
    const writer = await api.arrange.aClient(id);
    const classified = await writer.patch('/v1/inventory/assets', { ids, patch: { classification: 'PUBLIC' } });
    const browser = await console.signIn(slug, 'viewer');
    await Sealing.once(api);

    const { text } = await browser.get('/audit?pageSize=1000');

    expect([classified.status, numbersIn(text).length]).toEqual([200, 100]);
    expect(text).toMatch(/These are not the latest\. <a href="[^"]*pageCursor/);
  });

  it('shows the seven days before the last day, without a first day', async () => {
    const { id, slug } = await console.aWorkspace();
    await arrangeEveryResource(api, id);
    const age = "UPDATE audit_checkpoint SET recorded_at = recorded_at - interval '30 days' WHERE workspace_id = $1";
    await console.database.admin.query(age, [id]);
    const browser = await console.signIn(slug, 'viewer');
    const shown = async (query: string) =>
      numbersIn((await browser.get(`/audit?action=asset.updated${query}`)).text).length;

    const pages = [await shown(''), await shown(`&until=${dayBefore(0)}`), await shown(`&until=${dayBefore(28)}`)];

    expect(pages).toEqual([0, 0, await shown(`&since=${dayBefore(31)}`)]);
    expect(pages[2]).toBeGreaterThan(2);
  });
});
