import type { WorkspaceId } from '#libs/kernel';
import { ConsoleBrowser } from '../../support/console-setting';
import type { BenchmarkDatabase } from '../benchmark-database';
import { buildOnce, runBuilt } from '../built-program';
import type { Findings, Measurement } from '../findings';
import { apiEnvironment } from '../servers';
import type { Setting } from '../setting';
import { Instance } from '../start/instance';
import { median, milliseconds } from '../statistics';

const PAGES = ['/', '/inventory', '/computers', '/imports', '/audit'] as const;
const READS = 20;
const FIRST = 'first page';

/** Measures pages of the console by one person, who signs in at a console that has just started. */
export async function benchmarkConsole({ cluster, sizes, say }: Setting): Promise<Findings> {
  buildOnce(say);
  const database = await cluster.inventory();
  const environment = {
    ...apiEnvironment(cluster, database.databaseUrl),
    CONSOLE_DATABASE_URL: database.consoleDatabaseUrl,
    MIGRATION_DATABASE_URL: database.migrationDatabaseUrl,
  };
  const measurements: Measurement[] = [];
  let firstPage = Number.NaN;
  for (const size of new Set(['M', sizes.served] as const)) {
    const slug = await slugOf(database, await database.workspace(size));
    const person = ['--workspace', slug, '--email', 'ada@example.com'];
    const admin = (words: readonly string[], at: Readonly<Record<string, string>>): Promise<unknown> =>
      runBuilt('apps/admin/src/main.ts', [...words, ...person, '--json'], at).then(
        ({ output }) => JSON.parse(output) as unknown,
      );
    await admin(['people', 'add', '--name', 'Ada', '--role', 'viewer'], environment);
    const times: Record<string, number[]> = {};
    for (let round = 1; round <= sizes.rounds; round += 1) {
      say(`  size ${size}, round ${round} of ${sizes.rounds}`);
      const console = await Instance.start(environment, 'console');
      try {
        const { url } = (await admin(['console', 'link'], { ...environment, CONSOLE_PORT: String(console.port) })) as {
          readonly url: string;
        };
        const browser = await signIn(new URL(url));
        (times[FIRST] ??= []).push(await milliseconds(() => open(browser, '/')));
        for (const page of PAGES) {
          const reads: number[] = [];
          for (let read = 0; read < READS; read += 1) reads.push(await milliseconds(() => open(browser, page)));
          (times[page] ??= []).push(median(reads));
        }
      } finally {
        await console.stop();
      }
    }
    for (const [subject, values] of Object.entries(times)) {
      measurements.push({ subject, variant: `size ${size}`, figure: 'time', unit: 'ms', values });
    }
    if (size === sizes.served) firstPage = median(times[FIRST] as number[]);
  }
  return { measurements, measured: { 'console-first': firstPage } };
}

async function signIn({ origin, pathname }: URL): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(origin);
  const { status, text } = await browser.post(pathname, (await browser.get(pathname)).fields());
  if (status !== 303) throw new Error(`The sign-in got ${status}: ${text}`);
  return browser;
}

async function open(browser: ConsoleBrowser, page: string): Promise<void> {
  const { status, text } = await browser.get(page);
  if (status !== 200) throw new Error(`${page}: ${status}: ${text}`);
}

async function slugOf({ admin }: BenchmarkDatabase, id: WorkspaceId): Promise<string> {
  const { rows } = await admin.query<{ slug: string }>('SELECT slug FROM workspace WHERE id = $1', [id]);
  return (rows[0] as { slug: string }).slug;
}
