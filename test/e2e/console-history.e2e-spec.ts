import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestConsole, startConsoleWithApi } from '../support/console-setting';
import { Sealing } from '../support/sealing';
import type { TestApp } from '../support/start-app';

describe('The history of an asset in the console', () => {
  let console: TestConsole;
  let api: TestApp;
  beforeAll(async () => {
    ({ console, api } = await startConsoleWithApi());
  });
  afterAll(() => console.stop());

  it('names who changed an owner, the asset, the old owner and the new one', async () => {
    const { slug, id } = await console.aWorkspace();
    const admin = await console.signIn(slug, 'admin');
    const asset = await api.arrange.anAsset(id, { name: 'Bucket seven' });
    for (const name of ['Ines Tanaka', 'Kenji Singh']) {
      await api.arrange.anEmployee(id, name, `${name.slice(0, 4)}@example.com`);
      const given = await admin.submit(`/inventory/${asset.id}`, `/inventory/${asset.id}/owner`, { owner: name });
      expect(given.status).toBe(303);
    }

    await Sealing.once(api);

    const { text } = await admin.get('/audit?action=asset.updated');
    const history = await admin.get(`/inventory/${asset.id}`);

    expect(text).toContain('<td data-label="Who">person The admin</td>');
    expect(text).toContain('>Bucket seven</a>');
    for (const shown of [text, history.text]) {
      expect(shown).toContain('owner: Ines Tanaka');
      expect(shown).toContain('owner: <del>Ines Tanaka</del> → Kenji Singh');
    }
    expect(history.text.match(/<td data-label="By">person The admin<\/td>/g)).toHaveLength(2);
  });

  it('says so where it shows the newest states only', async () => {
    const { slug, id } = await console.aWorkspace();
    const browser = await console.signIn(slug, 'viewer');
    const asset = await api.arrange.anAsset(id);
    for (let n = 0; n < 100; n += 1) {
      await api.arrange.change(id, 'UPDATE asset SET description = $2 WHERE workspace_id = $1', [id, `State ${n}.`]);
    }

    const { text } = await browser.get(`/inventory/${asset.id}`);

    expect(text).toContain('The newest 100 of 101 states.');
    expect(text).toContain('State 99.');
    // Transactions without a ticket, as those of the release before.
    expect(text.match(/data-label="By">unknown</g)).toHaveLength(100);
  });

  it('names the operator and the import that changed an asset', async () => {
    const { slug, id } = await console.aWorkspace();
    const browser = await console.signIn(slug, 'viewer');
    const file = join(mkdtempSync(join(tmpdir(), 'history-')), 'things.ndjson');
    const imported = async (name: string) => {
      writeFileSync(file, JSON.stringify({ externalId: 'a', categoryKey: 'CUSTOM', name }));
      await console.admin('import', file, '--workspace', slug, '--source', 'hr', '--as', 'night job');
    };
    await imported('Before');
    await imported('After');
    const { rows } = await console.database.admin.query<{ id: string }>(
      'SELECT public_id AS id FROM asset WHERE workspace_id = $1',
      [id],
    );
    await console.admin('tag-keys', 'create', '--workspace', slug, '--key', 'env');
    const admin = await console.signIn(slug, 'admin');
    const path = `/inventory/${rows[0]?.id ?? ''}`;
    await admin.submit(path, `${path}/tags`, { tags: 'env' });
    await console.admin('tag-keys', 'delete', '--workspace', slug, '--key', 'env', '--yes', '--as', 'on call');

    const { text } = await browser.get(path);

    const by = [...text.matchAll(/<td data-label="By">([^<]*)</g)].map(([, who]) => who);
    const importing = 'import by operator night job';
    expect(by).toEqual(['operator on call', 'person The admin', importing, importing]);
  });

  it('shows nobody as an operator who chose such a name', async () => {
    const { slug, id } = await console.aWorkspace();
    const admin = await console.signIn(slug, 'admin');
    await console.database.admin.query(`UPDATE person SET name = 'operator (alice)' WHERE id = $1`, [admin.personId]);
    const path = `/inventory/${(await api.arrange.anAsset(id)).id}`;
    await admin.submit(path, `${path}/description`, { description: 'Changed.' });

    const { text } = await admin.get(path);

    expect(text).toContain('<td data-label="By">person operator (alice)</td>');
  });
});
