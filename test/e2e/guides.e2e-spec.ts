import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUIDES, PROGRAM } from '../../libs/docs-site/src/guides/guide-list';
import { type TestApp, startApp } from '../support/start-app';

const PAGES = ['/docs/guides', ...GUIDES.map(({ name }) => `/docs/guides/${name}`)];

describe('GET /docs/guides', () => {
  let app: TestApp;
  let policy: string | null;
  const pages = new Map<string, string>();
  beforeAll(async () => {
    app = await startApp();
    policy = (await app.client().get('/docs')).headers.get('content-security-policy');
    for (const path of PAGES) pages.set(path, (await app.client().get(path)).text);
  });
  afterAll(() => app.stop());

  it.each(PAGES)('returns HTML without a token, under the policy of /docs: %s', async (path) => {
    const { status, headers, text } = await app.client().get(path);

    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toBe(policy);
    // The policy would refuse them.
    expect(text).not.toMatch(/<style|style=|<script>|<[^>]*\son\w+=|(?:src|stylesheet" href)="https?:/);
  });

  it('shows everything that the Markdown files say', () => {
    for (const { name, file } of GUIDES) {
      const source = readFileSync(join(__dirname, '../..', file), 'utf8');
      const page = pages.get(`/docs/guides/${name}`) ?? '';
      const headings = [...source.replace(/```[^]*?```/g, '').matchAll(/^#+ /gm)];
      const main = page.slice(page.indexOf('<main'));
      expect([name, main.match(/<h[1-6]/g)?.length]).toEqual([name, headings.length]);
      expect([name, main.match(/<figure/g)?.length ?? 0]).toEqual([name, (source.match(/^```/gm)?.length ?? 0) / 2]);
    }
  });

  it('has an index for the search with exactly the sections of its pages', async () => {
    const { index } = (await (await fetch(`${app.origin}/docs/guides-index.json`)).json()) as {
      index: { documentIds: Record<string, string> };
    };

    const sections = GUIDES.flatMap(({ name }) =>
      [...(pages.get(`/docs/guides/${name}`) ?? '').matchAll(/<h[1-6] id="([^"]*)"/g)].map(([, id]) => `${name}#${id}`),
    );
    expect(Object.values(index.documentIds)).toEqual(sections);
  });

  it('has working links and anchors, also in the menu', async () => {
    const statuses = new Map<string, number>();
    for (const [path, page] of pages) {
      const links = [...page.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link);
      expect(links.length).toBeGreaterThan(GUIDES.length);
      for (const link of links) {
        const { pathname, origin, hash } = new URL(link, `${app.origin}${path}`);
        if (origin !== app.origin) continue;
        if (!statuses.has(pathname)) {
          const { status } = await fetch(`${app.origin}${pathname}`, { headers: { Accept: 'text/html, */*;q=0.1' } });
          statuses.set(pathname, status);
        }
        expect([path, link, statuses.get(pathname)]).toEqual([path, link, 200]);
        const found = hash === '' || pages.get(pathname)?.includes(` id="${hash.slice(1)}"`);
        expect([path, link, found]).toEqual([path, link, true]);
      }
    }
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([...PAGES, '/docs', '/problems', '/docs/guides.js']));
  });

  it('shows the address of this API in examples', () => {
    const start = pages.get('/docs/guides/getting-started');

    expect(start).toContain('BASE_URL=https://api.example.test ');
    for (const page of pages.values()) expect(page).not.toContain('api.example.com');
  });

  it('serves the file for Python as it is', async () => {
    const { status, headers, text } = await app.client().get(`/docs/guides/${PROGRAM.name}`);

    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toBe(readFileSync(join(__dirname, '../..', PROGRAM.file), 'utf8'));
  });

  it.each(['/docs/guides/operators', '/docs/guides/getting-started.md', '/docs/guides/x/y'])(
    'returns 404 for other pages: %s',
    async (path) => {
      const { status, body } = await app.client().get(path);

      expect([status, body['code']]).toEqual([404, 'not_found']);
    },
  );

  it('has one address a page and accepts only GET', async () => {
    const slash = await app.client().get('/docs/guides/', { redirect: 'manual' });
    expect([slash.status, slash.headers.get('location')]).toEqual([302, '../guides']);
    const posted = await app.client().send('POST', '/docs/guides/errors');
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is cached for five minutes, then revalidated by its ETag', async () => {
    const first = await fetch(`${app.origin}/docs/guides/errors`);
    const tag = first.headers.get('etag') ?? '';
    expect([first.headers.get('cache-control'), tag]).toEqual([
      'public, max-age=300',
      expect.stringMatching(/^".{22}"$/),
    ]);

    for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const again = await fetch(`${app.origin}/docs/guides/errors`, { headers: { 'If-None-Match': known } });
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, tag, '']);
    }
    const other = await fetch(`${app.origin}/docs/guides/errors`, { headers: { 'If-None-Match': '"other"' } });
    expect(other.status).toBe(200);
  });

  it.each(['/problems', '/problems/not_found'])('is linked from %s', async (path) => {
    const page = await fetch(`${app.origin}${path}`, { headers: { Accept: 'text/html' } });

    const [, link = ''] = /<main[^]*? href="([^"]*docs\/guides[^"]*)"/.exec(await page.text()) ?? [];
    expect(PAGES).toContain(new URL(link, page.url).pathname);
  });
});
