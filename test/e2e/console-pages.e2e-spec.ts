import { arrangeEveryResource, type EveryResource } from '../contract/every-resource';
import type { TestApp } from '../support/start-app';
import { type ConsoleBrowser, type TestConsole, startConsoleWithApi } from '../support/console-setting';

const XSS = '<img src=x onerror=alert(1)>"\'';
const ESCAPED = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;';

describe('The pages of the console', () => {
  let console: TestConsole;
  let api: TestApp;
  let ours: { id: string; slug: string };
  let theirs: { id: string; slug: string };
  let viewer: ConsoleBrowser;
  let arranged: EveryResource;
  let foreign: EveryResource;
  beforeAll(async () => {
    ({ console, api } = await startConsoleWithApi());
    ours = await console.aWorkspace('Ours');
    theirs = await console.aWorkspace('Theirs');
    arranged = await arrangeEveryResource(api, ours.id);
    foreign = await arrangeEveryResource(api, theirs.id);
    viewer = await console.signIn(ours.slug, 'viewer');
  });
  afterAll(() => console.stop());

  const idIn = (of: EveryResource, path: string): string => of.ids[path] ?? '';
  const runIds = async (workspace: string): Promise<string[]> => {
    const { rows } = await console.database.admin.query<{ id: string }>(
      'SELECT id FROM import_run WHERE workspace_id = $1',
      [workspace],
    );
    return rows.map(({ id }) => id);
  };

  it('each have their title and one heading, for a viewer too', async () => {
    const [run = ''] = await runIds(ours.id);
    const paths = [
      ...['/', '/inventory', '/computers', '/imports', '/audit', '/workspaces'],
      `/inventory/${idIn(arranged, '/v1/inventory/assets')}`,
      `/computers/${idIn(arranged, '/v1/computers')}`,
      `/imports/${run}`,
    ];

    for (const path of paths) {
      const { status, text } = await viewer.get(path);
      const headings = [...text.matchAll(/<h1>([^<]*)<\/h1>/g)].map(([, heading]) => heading);
      expect([path, status, headings.length]).toEqual([path, 200, 1]);
      expect(text).toContain(`<title>${headings[0] ?? ''} – Compliance console</title>`);
      expect(text).not.toMatch(/undefined|\[object|<style|style="|onclick/);
    }
  });

  it('lead to the sign-in without a session', async () => {
    const paths = [
      '/',
      '/inventory',
      '/inventory/x',
      '/computers',
      '/computers/x',
      '/imports',
      '/imports/x',
      '/people',
    ];
    for (const path of [...paths, '/applications', '/applications/x', '/audit', '/sign-out']) {
      const { status, headers } = await console.browser().get(path);
      expect([path, status, headers.get('location')]).toEqual([path, 303, '/sign-in']);
    }
    expect((await viewer.get('/sign-out')).headers.get('location')).toBe('/');
    expect((await viewer.get('/')).status).toBe(200);
  });

  it('show nothing of another workspace, and nothing where there is nothing', async () => {
    const [run = ''] = await runIds(theirs.id);
    const paths = [
      `/inventory/${idIn(foreign, '/v1/inventory/assets')}`,
      `/computers/${idIn(foreign, '/v1/computers')}`,
      `/imports/${run}`,
      ...['/inventory/00000000-0000-4000-8000-000000000000', '/inventory/x', '/computers/x', '/imports/x', '/nowhere'],
    ];

    for (const path of paths) expect([path, (await viewer.get(path)).status]).toEqual([path, 404]);
    const { text } = await viewer.get('/inventory');
    for (const id of Object.values(foreign.ids)) expect(text).not.toContain(id);
  });

  it('filter lists under the names of the API', async () => {
    const [all, owned, missing, wrong] = [
      await viewer.get('/inventory'),
      await viewer.get('/inventory?hasOwner=true'),
      await viewer.get('/inventory?hasOwner=false&categoryKey=COMPUTER'),
      await viewer.get('/inventory?hasOwner=maybe'),
    ];

    expect([all, owned, missing].map(({ text }) => /(\d+) assets?\./.exec(text)?.[0].trim())).toEqual([
      '4 assets.',
      '1 asset.',
      '2 assets.',
    ]);
    expect(owned.text).toContain('Ada Okafor');
    const withEmployees = await viewer.get('/inventory?hasOwner=false');
    const isSaid = ({ text }: { text: string }) => text.includes('Employees are among them, who never have an owner.');
    expect([all, owned, missing, withEmployees].map(isSaid)).toEqual([false, false, false, true]);
    expect([wrong.status, wrong.text.includes('This field must be true or false')]).toEqual([400, true]);
    const ofType = await viewer.get('/inventory?categoryKey=EMPLOYEE&subKey=COMPUTER');
    expect([ofType.status, ofType.text.includes('<option value="COMPUTER" selected>')]).toEqual([200, true]);
  });

  it('show what is wrong with a filter beside its field, and keep what was typed', async () => {
    const [inventory, computers, audit] = [
      await viewer.get('/inventory?hasOwner=maybe&tagKey=env'),
      await viewer.get('/computers?lastCheckedBefore=foo&failingAnyOf=ANTIVIRUS'),
      await viewer.get('/audit?assetId=x&action=asset.updated'),
    ];

    expect([inventory, computers, audit].map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(inventory.text).toContain('<option selected>maybe</option>');
    expect(inventory.text).toMatch(/id="tagKey" name="tagKey" value="env"/);
    expect(inventory.text).not.toContain('Download as CSV');
    expect(computers.text).toMatch(/value="ANTIVIRUS" checked/);
    expect(audit.text).toMatch(/id="assetId"[^>]* aria-describedby="assetId-error"[^>]* value="x"/);
    for (const [page, field] of [
      [inventory, 'hasOwner'],
      [computers, 'lastCheckedBefore'],
      [audit, 'assetId'],
    ] as const) {
      // prettier-ignore
      expect(page.text).toContain(`id="${field}-error">This field must be `);
      expect(page.text).toContain('<button>Filter</button>');
    }
  });

  it.each([
    ['/computers', ['lastCheckedBefore'], 'foo'],
    ['/computers', ['lastCheckedBefore'], '2026-01-02 12:00'],
    ['/audit', ['since', 'until'], '2026-02-30'],
  ])('say what a field of a day takes: %s by %j', async (list, fields, typed) => {
    const query = fields.map((field) => `${field}=${typed}`).join('&');
    for (const path of [`${list}?${query}`, `${list}?${query}&pageSize=0`]) {
      const { status, text } = await viewer.get(path);

      expect([path, status]).toEqual([path, 400]);
      for (const field of fields) {
        expect(text).toMatch(new RegExp(`id="${field}-error">This field must be [^<]*\\d{4}-\\d\\d-\\d\\d`));
      }
    }
  });

  it('say how an address writes the plus sign of an e-mail address', async () => {
    const { status, text } = await viewer.get('/inventory?email=ada+test@example.com');

    expect(status).toBe(400);
    expect(text).toContain('email must have no spaces; in a query a + is a space, so send a plus sign as %2B');
  });

  it('show above the list what is wrong with a parameter that has no field', async () => {
    for (const [path, reason] of [
      ['/computers?lastCheckedAfter=foo&isMonitored=true', 'lastCheckedAfter is not a parameter of this operation'],
      ['/inventory?pageCursor=x', 'pageCursor is not a cursor of this list'],
      ['/inventory?ids=x', 'ids must be'],
      ['/audit?pageSize=0', 'pageSize must be'],
      ['/computers?asOf=2026-01-01T00:00:00Z', 'asOf'],
    ] as const) {
      const { status, text } = await viewer.get(path);
      expect([path, status]).toEqual([path, 400]);
      expect(text).toContain(`<p class="notice bad">${reason}`);
      expect(text).toContain('<button>Filter</button>');
    }
  });

  it('list computers by their last check-in', async () => {
    const { slug, id } = await console.aWorkspace();
    const browser = await console.signIn(slug, 'viewer');
    for (const [name, day] of [
      ['Old one', '2026-01-02'],
      ['New one', '2026-01-03'],
    ] as const) {
      // prettier-ignore
      await api.arrange.anAsset(id, { type: 'COMPUTER', name, columns: { last_checked_at: `${day}T12:00:00Z` } });
    }
    const seen = async (path: string) =>
      [...(await browser.get(path)).text.matchAll(/>(\w+ one)<\/a>/g)].map(([, name]) => name);

    expect(await seen('/computers?lastCheckedBefore=2026-01-02')).toEqual([]);
    expect(await seen('/computers?lastCheckedBefore=2026-01-03')).toEqual(['Old one']);
    expect((await browser.get('/computers?lastCheckedBefore=2026-01-03')).text).toContain('value="2026-01-03"');
  });

  it('find the assets whose owner has left', async () => {
    const { id } = await api.arrange.anAsset(ours.id, { type: 'EMPLOYEE', visibility: 'DELETED' });
    await api.arrange.anAsset(ours.id, { name: 'left behind', ownerId: id });

    const { text } = await viewer.get('/inventory?ownerVisible=false');

    expect([text.includes('1 asset.'), text.includes('left behind'), text.includes('Ada Okafor')]).toEqual([
      ...[true, true, false],
    ]);
    expect(text).toMatch(/<option value="false" selected>no: owner gone/);
  });

  it('leave empty fields of a form out of the address, and join ticked boxes', async () => {
    const [list, boxes] = [
      await viewer.get('/inventory?categoryKey=&hasOwner=true&name='),
      await viewer.get('/computers?failingAnyOf=ANTIVIRUS&failingAnyOf=SCREEN_LOCK&isMonitored='),
    ];

    expect([list.status, list.headers.get('location')]).toEqual([303, '/inventory?hasOwner=true']);
    expect(boxes.headers.get('location')).toBe('/computers?failingAnyOf=ANTIVIRUS%2CSCREEN_LOCK');
  });

  it('page through a list', async () => {
    const seen = new Set<string>();
    let path: string | undefined = '/inventory?pageSize=3';
    for (let pages = 0; path !== undefined; pages += 1) {
      expect(pages).toBeLessThan(3);
      const { status, text } = await viewer.get(path);
      expect(status).toBe(200);
      for (const [, id = ''] of text.matchAll(/href="\/inventory\/([0-9a-f-]{36})"/g)) seen.add(id);
      path = /href="([^"]*pageCursor[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }

    expect(seen.size).toBe(5);
  });

  it('show what an update changed, and who made it, in history and audit', async () => {
    const id = idIn(arranged, '/v1/inventory/assets');

    const [asset, audit] = [await viewer.get(`/inventory/${id}`), await viewer.get(`/audit?assetId=${id}`)];

    expect(asset.text).toMatch(/application ci_\w+[\s\S]*description: <del>Reviewed<\/del> → Reviewed again/);
    expect(audit.text).toContain('asset.updated');
    expect(audit.text).toContain('description: <del>Reviewed</del> → Reviewed again');
    expect(audit.text).toContain('events are sealed');
  });

  it.each([
    ['a type of another category', '/inventory', 'categoryKey=EMPLOYEE&subKey=COMPUTER', '/v1/inventory/assets'],
    ['a day', '/computers', 'lastCheckedBefore=2026-01-03', '/v1/computers'],
  ])('lead to the next page of a list by %s, here and in the API', async (_, list, filter, resource) => {
    const { slug, id } = await console.aWorkspace();
    const browser = await console.signIn(slug, 'viewer');
    for (const name of ['One', 'Two', 'Three']) {
      await api.arrange.anAsset(id, { type: 'COMPUTER', name, columns: { last_checked_at: '2026-01-02T12:00:00Z' } });
    }
    const { text } = await browser.get(`${list}?${filter}&pageSize=2`);
    const next = /href="([^"]*pageCursor[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const cursor = /pageCursor=[^&]*/.exec(next)?.[0] ?? '';

    const pages = [await browser.get(next), await browser.get(`${list}?${cursor}`)];
    const { body } = await api.client(await api.arrange.aToken(id)).get(`${resource}?${cursor}`);

    for (const page of pages) {
      expect([page.status, page.text.match(/>(One|Two|Three)<\/a>/g)]).toEqual([200, ['>Three</a>']]);
      expect(page.text).toContain(`${list}/download?${filter.split('&').at(-1) ?? ''}`);
    }
    expect(body['results']).toMatchObject([{ name: 'Three' }]);
  });

  it('say that there are more sources and imports than they show', async () => {
    const { slug, id } = await console.aWorkspace();
    const browser = await console.signIn(slug, 'viewer');
    const addRuns = (count: number) =>
      console.database.admin.query(
        `INSERT INTO import_run (workspace_id, id, source, ended_at, outcome, who, options, files, counts, errors, warnings)
         SELECT $1, gen_random_uuid(), 'source ' || gen_random_uuid(), ended_at, outcome, who, options, files, counts, errors, warnings
           FROM (SELECT * FROM import_run WHERE workspace_id = $2 LIMIT 1) AS run, generate_series(1, $3) AS n`,
        [id, ours.id, count],
      );
    const pages = async () => [(await browser.get('/imports')).text, (await browser.get('/')).text];

    await addRuns(50);
    const few = await pages();
    await addRuns(50);
    const [all = ''] = await pages();
    await addRuns(1);
    const [imports = '', overview = ''] = await pages();

    for (const text of [...few, all]) expect(text).not.toMatch(/The (newest|first) \d/);
    expect(imports).toContain('The newest 100 imports.');
    expect(imports.match(/href="\/imports\/[0-9a-f-]{36}"/g)).toHaveLength(100);
    expect(overview).toContain('The first 50 of 101 sources.');
  });

  it('end no secret by a form of before somebody rotated it, and say so', async () => {
    const admin = await console.signIn(ours.slug, 'admin');
    const { clientId } = await api.arrange.anApplication(ours.id);
    const path = `/applications/${clientId}`;
    const rotate = () => admin.submit(path, `${path}/rotate-secret`, { overlap: '24h' });
    await rotate();
    const before = await admin.get(path);
    await rotate();

    for (const way of ['end-secret', 'remove-secret']) {
      const { status } = await admin.post(`${path}/${way}`, before.fields(`${path}/${way}`));
      const { text } = await admin.get(path);
      expect([way, status, text.includes('somebody rotated the secret')]).toEqual([way, 303, true]);
      expect(text).toContain('<td>Old secret</td>');
    }
    await admin.submit(path, `${path}/end-secret`);
    expect((await admin.get(path)).text).not.toContain('<td>Old secret</td>');
    await admin.submit(path, `${path}/remove-secret`);
    expect((await admin.get(path)).text).not.toContain('<td>Secret</td>');
  });

  it('show every field of an asset as text', async () => {
    const fields = ['source', 'external_id', 'serial_number', 'operating_system', 'os_version', 'account_id', 'region'];
    const columns = Object.fromEntries(fields.map((field) => [field, XSS + field]));
    const tags = JSON.stringify([{ key: `${XSS}key`, value: `${XSS}value`, readOnly: true }]);
    const posture = { agent_version: `${XSS}agent` };
    const { id: ownerId } = await api.arrange.anEmployee(ours.id, XSS, `${XSS}email`);
    const wishes = { type: 'COMPUTER', name: XSS, description: XSS, ownerId, posture } as const;
    const { id } = await api.arrange.anAsset(ours.id, { ...wishes, columns: { ...columns, tags } });
    await api.arrange.change(
      ours.id,
      `INSERT INTO import_run (workspace_id, id, source, ended_at, outcome, who, options, files, counts, errors, warnings)
       SELECT workspace_id, gen_random_uuid(), $2, now(), 'COMPLETED', $2, options, $3, counts, $4, $4
         FROM import_run WHERE workspace_id = $1 LIMIT 1`,
      [ours.id, XSS, JSON.stringify([{ name: XSS, bytes: 1 }]), JSON.stringify([{ line: 1, reason: XSS, file: XSS }])],
    );
    const runs = (await runIds(ours.id)).map((run) => `/imports/${run}`);
    const assets = [`/inventory/${id}`, `/inventory/${ownerId}`, `/computers/${id}`];

    let shown = '';
    for (const path of [...assets, '/inventory', '/computers', '/', ...runs]) {
      const { text } = await viewer.get(path);
      expect([path, text.includes('<img')]).toEqual([path, false]);
      shown += text;
    }
    for (const field of [...fields, 'key', 'value', 'agent', 'email']) expect(shown).toContain(ESCAPED + field);
  });
});
