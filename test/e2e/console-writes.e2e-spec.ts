import type { TestApp } from '../support/start-app';
import { type ConsoleBrowser, type Shown, type TestConsole, startConsoleWithApi } from '../support/console-setting';
import { Sealing } from '../support/sealing';

describe('The console changes assets', () => {
  let console: TestConsole;
  let api: TestApp;
  let ours: { id: string; slug: string };
  let admin: ConsoleBrowser & { personId: string };
  let employee: { id: string };
  beforeAll(async () => {
    ({ console, api } = await startConsoleWithApi());
    ours = await console.aWorkspace('Ours');
    employee = await api.arrange.anEmployee(ours.id);
    for (const key of ['env', 'team']) await api.arrange.aTagKey(ours.id, key);
    admin = await console.signIn(ours.slug, 'admin');
  });
  afterAll(() => console.stop());

  const read = async (id: string) =>
    (await (await api.arrange.aClient(ours.id)).get(`/v1/inventory/assets/${id}`)).body;
  const set = (id: string, field: string, value: string, browser: ConsoleBrowser = admin) =>
    browser.submit(`/inventory/${id}`, `/inventory/${id}/${field}`, { [field]: value });
  const eventsOf = async (id: string) => {
    const { rows } = await console.database.admin.query<Record<string, unknown>>(
      'SELECT actor_type, actor_name, client_id, changes FROM audit_event WHERE asset_id = $1 ORDER BY id',
      [id],
    );
    return rows;
  };

  it('gives an owner by e-mail address or name, and ownerSource reads MANUAL', async () => {
    const [one, two] = [await api.arrange.anAsset(ours.id), await api.arrange.anAsset(ours.id)];

    const given = [await set(one.id, 'owner', 'ADA@example.com'), await set(two.id, 'owner', 'Ada Okafor')];

    expect(given.map(({ status }) => status)).toEqual([303, 303]);
    for (const { id } of [one, two]) {
      expect(await read(id)).toMatchObject({ ownerId: employee.id, ownerSource: 'MANUAL', completeStatus: 'COMPLETE' });
    }
    expect(await eventsOf(one.id)).toEqual([
      expect.objectContaining({ actor_type: 'PERSON', actor_name: admin.personId, client_id: null }),
    ]);
    await set(one.id, 'owner', '');
    expect(await read(one.id)).toMatchObject({ ownerId: null, ownerSource: null });
  });

  it.each([
    ['ASSET', '/v1/inventory/assets', '/v1/inventory/changes'],
    ['COMPUTER', '/v1/computers', '/v1/computers/changes'],
  ] as const)('are in feed and history with the person as origin: %s', async (kind, items, changes) => {
    const { id } = await api.arrange.anAsset(ours.id, kind === 'COMPUTER' ? { type: kind } : {});
    await set(id, 'owner', 'ada@example.com');

    const client = await api.arrange.aClient(ours.id);
    const { body: feed } = await client.get(`${changes}?pageSize=1000`);
    const { body: history } = await client.get(`${items}/${id}/history`);

    const origin = { type: 'PERSON', personId: admin.personId };
    const change = (feed['results'] as { id: string; origin: unknown }[]).find((one) => one.id === id);
    expect(change?.origin).toEqual(origin);
    expect((history['results'] as { origin: unknown }[])[0]?.origin).toEqual(origin);
  });

  it('sets description, classification and tags, each by itself', async () => {
    const { id } = await api.arrange.anAsset(ours.id);

    await set(id, 'description', 'For “logs”');
    await set(id, 'classification', 'INTERNAL');
    await set(id, 'tags', 'env\r\n');

    expect(await read(id)).toMatchObject({
      ...{ description: 'For “logs”', classification: 'INTERNAL' },
      tags: [expect.objectContaining({ key: 'env' })],
    });
  });

  it('keeps what another tab set since the form was opened, and what was typed', async () => {
    const { id } = await api.arrange.anAsset(ours.id);
    const action = `/inventory/${id}/tags`;
    const early = (await admin.get(`/inventory/${id}`)).fields(action);
    await set(id, 'tags', 'env');

    const same = await admin.post(action, { ...early, tags: 'env' });
    const late = await admin.post(action, { ...early, tags: 'team' });
    const kept = await read(id);
    const again = await admin.post(action, { ...late.fields(action), tags: 'env\nteam' });

    expect([same.status, late.status, kept['tags']]).toEqual([303, 409, [expect.objectContaining({ key: 'env' })]]);
    expect(late.text).toMatch(/<dt>Tags<\/dt><dd>env<\/dd>[^]*<textarea id="tags"[^>]*>team<[^]*id="tags-error"/);
    expect([again.status, (await read(id))['tags']]).toMatchObject([303, [{ key: 'env' }, { key: 'team' }]]);
  });

  it('keeps what another tab set, after a form of before was refused for its text', async () => {
    const { id } = await api.arrange.anAsset(ours.id);
    const action = `/inventory/${id}/tags`;
    const early = (await admin.get(`/inventory/${id}`)).fields(action);
    await set(id, 'tags', 'env');

    const refused = await admin.post(action, { ...early, tags: 'teem' });
    const mended = await admin.post(action, { ...refused.fields(action), tags: 'team' });

    expect([refused.status, mended.status, (await read(id))['tags']]).toMatchObject([400, 409, [{ key: 'env' }]]);
  });

  it('keeps the lines of a description, as the API has them', async () => {
    const { id } = await api.arrange.anAsset(ours.id, { description: 'One\nTwo' });

    const { text } = await admin.get(`/inventory/${id}`);
    // A browser sends line breaks as CR and LF.
    const { status } = await set(id, 'description', 'x\r\n'.repeat(250));

    expect(text).toMatch(/<textarea id="description"[^>]*>One\nTwo<\/textarea>/);
    expect([status, (await read(id))['description']]).toEqual([303, 'x\n'.repeat(250).trim()]);
  });

  it('shows what is wrong beside the field, and keeps what was typed', async () => {
    const { id } = await api.arrange.anAsset(ours.id);

    const refused = [
      await set(id, 'owner', 'nobody@example.com'),
      await set(id, 'owner', 'Nobody'),
      await set(id, 'tags', 'env\none\ntwo'),
      await set(id, 'tags', '\u{10FFFF}'.repeat(20_000)),
      await set(id, 'classification', 'SECRET'),
      await set(id, 'description', '\u{10FFFF}'.repeat(501)),
    ];

    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400]);
    expect(refused[0]?.text).toContain('value="nobody@example.com"');
    expect(refused[1]?.text).toContain('No employee has this in the name or e-mail address.');
    expect(refused[2]?.text).toContain('one is no tag key of the workspace. two is no tag key of the workspace.');
    expect(await eventsOf(id)).toEqual([]);
  });

  it('gives ticked assets an owner and a classification, all or nothing', async () => {
    const assets = await Promise.all([1, 2, 3].map(() => api.arrange.anAsset(ours.id)));
    const action = '/inventory/ticked/owner?hasOwner=false';
    const page = (await admin.get('/inventory?hasOwner=false')).fields(action);
    const ticked = [...Object.entries(page), ...assets.map(({ id }) => ['ids', id])];

    const given = await admin.post(action, [...ticked, ['owner', 'ada@example.com']]);
    const classified = await admin.post('/inventory/ticked/classification', [...ticked, ['classification', 'PUBLIC']]);
    const employees = await admin.post(action, [...ticked, ['ids', employee.id], ['owner', 'ada@example.com']]);

    expect([given.status, given.headers.get('location')]).toEqual([303, '/inventory?hasOwner=false']);
    expect([classified.status, employees.status]).toEqual([303, 403]);
    for (const { id } of assets) {
      expect(await read(id)).toMatchObject({ ownerId: employee.id, ownerSource: 'MANUAL', classification: 'PUBLIC' });
    }
  });

  it('tells once what became of ticked assets, from no address and to nobody else', async () => {
    const assets = await Promise.all([1, 2].map(() => api.arrange.anAsset(ours.id)));
    const page = (await admin.get('/inventory')).fields('/inventory/ticked/owner');
    const gone = '00000000-0000-4000-8000-000000000000';
    const ticked = [...Object.entries(page), ...[...assets.map(({ id }) => id), gone].map((id) => ['ids', id])];
    const notice = async (browser = admin, path = '/inventory') =>
      /<p class="notice" role="status">([^<]*)</.exec((await browser.get(path)).text)?.[1];

    await admin.post('/inventory/ticked/owner', [...ticked, ['owner', 'ada@example.com']]);
    expect(await notice()).toBe('2 of 3 ticked assets have the new owner now. The rest is not there any more.');
    expect(await notice()).toBeUndefined();
    await admin.post('/inventory/ticked/classification', [...ticked.slice(0, -1), ['classification', 'PUBLIC']]);
    expect(await notice()).toBe('2 of 2 ticked assets have the new classification now.');

    const other = await console.signIn(ours.slug, 'admin');
    expect(await notice(other, '/inventory?notice=Pay+here')).toBeUndefined();
  });

  it('shows what is wrong with a change of ticked assets beside its field, and keeps the ticks', async () => {
    const { id } = await api.arrange.anAsset(ours.id, { name: 'Ticked' });
    const action = '/inventory/ticked/owner?name=Ticked';
    const page = (await admin.get('/inventory?name=Ticked')).fields(action);
    const send = (fields: string[][]) => admin.post(action, [...Object.entries(page), ...fields]);

    const [none, nobody, empty] = [
      await send([['owner', 'ada@example.com']]),
      await send([['ids', id], ['owner', 'nobody']]), // prettier-ignore
      await send([['ids', id], ['owner', '']]), // prettier-ignore
    ];

    expect([none.status, nobody.status, empty.status]).toEqual([400, 400, 400]);
    expect(none.text).toContain('Tick 1 to 100 assets first.');
    expect(none.text).toMatch(/id="owner" [^>]*value="ada@example.com"/);
    expect(nobody.text).toMatch(/id="owner" [^>]*value="nobody"[^>]* aria-describedby="owner-error"/);
    expect(nobody.text).toContain('No employee has this in the name or e-mail address.');
    for (const { text } of [nobody, empty]) {
      expect(text).toContain(`name="ids" value="${id}" checked`);
      expect(text).toContain('1 asset.');
      expect(text).toContain('id="owner-error"');
    }
    expect(await eventsOf(id)).toEqual([]);
  });

  describe('by a part of a name or e-mail address', () => {
    const XSS = '<img src=x onerror=alert(1)>';
    const radios = ({ text }: Shown) =>
      [...text.matchAll(/name="ownerId" value="([^"]*)" required> ([^<]*)/g)].map(([, id = '', name = '']) => ({
        ...{ id, name: name.trim() },
      }));
    let theirs: { id: string };
    beforeAll(async () => {
      const other = await console.aWorkspace();
      theirs = await api.arrange.anEmployee(other.id, 'Grace Elsewhere', 'grace@elsewhere.example');
      for (const [name, email] of [
        ['Grace Hopper', 'grace@example.com'],
        ['Grace Kelly', 'kelly@example.com'],
        ['Grace Kelly', 'kelly.2@example.com'],
        ['Per_cent 100%', 'per@example.com'],
        [XSS, 'hidden.grace@example.com'],
      ] as const) {
        await api.arrange.anEmployee(ours.id, name, email);
      }
      for (let n = 0; n < 21; n += 1) await api.arrange.anEmployee(ours.id, `Many ${n}`, `many.${n}@example.com`);
    });

    it('lists the matches to choose from, and gives the chosen one', async () => {
      const { id } = await api.arrange.anAsset(ours.id, { name: XSS });

      const shown = await set(id, 'owner', 'GRACE');

      expect(shown.status).toBe(200);
      expect(shown.text).not.toContain('<img');
      expect(radios(shown).map(({ name }) => name)).toEqual([
        ...['&lt;img src=x onerror=alert(1)&gt;', 'Grace Hopper', 'Grace Kelly', 'Grace Kelly'],
      ]);
      expect(await read(id)).toMatchObject({ ownerId: null });
      const action = `/inventory/${id}/owner`;
      const chosen = radios(shown)[1]?.id ?? '';
      const given = await admin.post(action, { ...shown.fields(), ownerId: chosen });
      expect([given.status, given.headers.get('location')]).toEqual([303, `/inventory/${id}`]);
      expect(await read(id)).toMatchObject({ ownerId: chosen, ownerSource: 'MANUAL' });
    });

    it('keeps the owner when nobody is chosen', async () => {
      const { id } = await api.arrange.anAsset(ours.id, { ownerId: employee.id });
      const shown = await set(id, 'owner', 'grace');
      const action = `/inventory/${id}/owner`;

      const { status, text } = await admin.post(action, shown.fields());

      expect([status, text.includes('id="owner-error"')]).toEqual([400, true]);
      expect(await read(id)).toMatchObject({ ownerId: employee.id });
    });

    it('keeps what was set while somebody chose', async () => {
      const { id } = await api.arrange.anAsset(ours.id);
      const shown = await set(id, 'owner', 'grace');
      await set(id, 'owner', 'ada@example.com');

      const chosen = {
        version: /name="version" value="(\d+)"/.exec(shown.text)?.[1] ?? '',
        ownerId: radios(shown)[1]?.id ?? '',
      };
      const { status } = await admin.post(`/inventory/${id}/owner`, { ...shown.fields(), ...chosen });

      expect([status, (await read(id))['ownerId']]).toEqual([409, employee.id]);
    });

    it('takes a text as it is, and shows 20 matches at most', async () => {
      const { id } = await api.arrange.anAsset(ours.id);
      const names = async (text: string) => radios(await set(id, 'owner', text)).map(({ name }) => name);

      expect(await names('_')).toEqual(['Per_cent 100%']);
      expect(await names('0%')).toEqual(['Per_cent 100%']);
      expect(await names('kelly.2@ex')).toEqual(['Grace Kelly']);
      expect(await names('grace kelly')).toHaveLength(2);
      const many = await set(id, 'owner', 'many');
      expect([radios(many).length, many.text.includes('More than 20 employees match')]).toEqual([20, true]);
      expect((await set(id, 'owner', 'elsewhere')).status).toBe(400);
    });

    it('gives ticked assets the chosen one', async () => {
      const assets = await Promise.all([1, 2].map(() => api.arrange.anAsset(ours.id)));
      const action = '/inventory/ticked/owner?name=x';
      const page = (await admin.get('/inventory')).fields('/inventory/ticked/owner');
      const ids = assets.map(({ id }) => ['ids', id]);

      const shown = await admin.post(action, [...Object.entries(page), ...ids, ['owner', 'hopper']]);
      const [chosen] = radios(shown);
      const kept = [...shown.text.matchAll(/name="ids" value="([^"]*)"/g)]
        .slice(0, 2)
        .map(([, id = '']) => ['ids', id]);
      const form = { ...shown.fields(), ownerId: chosen?.id ?? '' };
      const given = await admin.post(action, [...Object.entries(form), ...kept]);

      expect([given.status, given.headers.get('location')]).toEqual([303, '/inventory?name=x']);
      for (const { id } of assets) expect(await read(id)).toMatchObject({ ownerId: chosen?.id });
    });

    it('says when there are more employees than it looks at', async () => {
      const many = await console.aWorkspace();
      const browser = await console.signIn(many.slug, 'admin');
      await api.arrange.anEmployee(many.id);
      const { id } = await api.arrange.anAsset(many.id);
      await api.arrange.change(many.id, 'UPDATE facet_count SET n = 100001 WHERE workspace_id = $1 AND sub_key = 15', [
        many.id,
      ]);

      const [some, none] = [await set(id, 'owner', 'okaf', browser), await set(id, 'owner', 'nobody', browser)];

      expect([some.status, some.text.includes('Not every employee was searched')]).toEqual([200, true]);
      expect([none.status, none.text.includes('None of 100,000 employees has this')]).toEqual([400, true]);
    });

    it('takes no employee of another workspace, and shows nothing for an asset of one', async () => {
      const { id } = await api.arrange.anAsset(ours.id);
      const form = (await admin.get(`/inventory/${id}`)).fields(`/inventory/${id}/owner`);
      const viewer = await console.signIn(ours.slug, 'viewer');

      const refused = [
        await admin.post(`/inventory/${id}/owner`, { ...form, ownerId: theirs.id }),
        await admin.post(`/inventory/${id}/owner`, { ...form, ownerId: 'x' }),
        await admin.post(`/inventory/${theirs.id}/owner`, { ...form, owner: 'grace' }),
        await viewer.post(`/inventory/${id}/owner`, { ...(await viewer.get('/')).fields(), owner: 'grace' }),
        await admin.post(`/inventory/${id}/owner`, { owner: 'grace' }),
      ];

      expect(refused.map(({ status }) => status)).toEqual([400, 400, 404, 403, 403]);
      expect(await eventsOf(id)).toEqual([]);
    });
  });

  it('is in the audit as the API shows it, which verifies', async () => {
    const { id } = await api.arrange.anAsset(ours.id);
    await set(id, 'description', 'Audited');
    const sealing = await Sealing.of(api);
    await sealing.seal();
    await sealing.close();

    const { body } = await (
      await api.arrange.aClient(ours.id)
    ).get(`/v1/audit-events?assetId=${id}&action=asset.updated`);

    expect(body['results']).toEqual([
      expect.objectContaining({
        ...{ action: 'asset.updated', target: { type: 'ASSET', id } },
        actor: { type: 'PERSON', clientId: null, name: null, personId: admin.personId },
      }),
    ]);
    expect(await console.admin('audit', 'verify')).toMatchObject({ ok: true });
    const { text } = await admin.get(`/audit?assetId=${id}`);
    expect(text).toContain('The admin');
  });

  it('refuses a viewer, another workspace and an employee', async () => {
    const { id } = await api.arrange.anAsset(ours.id);
    const viewer = await console.signIn(ours.slug, 'viewer');
    const theirs = await console.aWorkspace();
    const stranger = await console.signIn(theirs.slug, 'admin');
    const fieldsOf = async (browser: ConsoleBrowser) => (await browser.get('/')).fields('/sign-out');
    const [ofViewer, ofStranger, own] = [await fieldsOf(viewer), await fieldsOf(stranger), await fieldsOf(admin)];

    expect((await viewer.get(`/inventory/${id}`)).text).not.toContain('Give owner');
    for (const field of ['owner', 'description', 'classification', 'tags']) {
      const statuses = [
        (await viewer.post(`/inventory/${id}/${field}`, { ...ofViewer, [field]: 'x' })).status,
        (await stranger.post(`/inventory/${id}/${field}`, { ...ofStranger, description: 'x' })).status,
        (await admin.post(`/inventory/${employee.id}/${field}`, { ...own, [field]: '' })).status,
        (await admin.get(`/inventory/${id}/${field}`)).status,
      ];
      expect([field, statuses]).toEqual([field, [403, 404, 403, 404]]);
    }
    const ticked = { ids: id, ownerId: employee.id, classification: 'PUBLIC' };
    const statuses = [
      (await viewer.post('/inventory/ticked/owner', { ...ofViewer, ...ticked })).status,
      (await stranger.post('/inventory/ticked/owner', { ...ofStranger, ...ticked })).status,
      (await stranger.post('/inventory/ticked/classification', { ...ofStranger, ...ticked })).status,
    ];
    expect(statuses).toEqual([403, 400, 303]);
    expect((await stranger.get('/inventory')).text).toContain('0 of 1 ticked assets have the new classification now.');
    expect(await eventsOf(id)).toEqual([]);
  });
});
