import { once } from 'node:events';
import { type Redis } from 'ioredis';
import { ComplianceClient, FileTokenStore, MemoryTokenStore, RedisTokenStore, type TokenStore } from '#libs/client';

// A worker of an application in a process of its own. Reports that it is ready, waits for a line, sends reads for a
// while, and reports the results: `{ ok, failed: [code, …], refused: 401 responses below the client }`.

interface Assignment {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly store: { readonly kind: 'memory' } | { readonly kind: 'file' | 'redis'; readonly at: string };
  readonly milliseconds: number;
}

async function main(): Promise<void> {
  const { store, milliseconds, ...credentials } = JSON.parse(process.env['ASSIGNMENT'] as string) as Assignment;
  const redis = store.kind === 'redis' ? new (await import('ioredis')).Redis(store.at) : null;
  let refused = 0;
  const client = new ComplianceClient({
    ...credentials,
    tokenStore: storeOf(store, redis),
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (response.status === 401) refused += 1;
      return response;
    },
  });
  process.stdout.write('ready\n');
  await once(process.stdin, 'data');
  let ok = 0;
  const failed: string[] = [];
  const read = async () => {
    for (const end = Date.now() + milliseconds; Date.now() < end;) {
      await client
        .listCategories()
        .pages()
        .next()
        .then(
          () => (ok += 1),
          (error: unknown) => failed.push(String(error)),
        );
    }
  };
  await Promise.all([read(), read(), read()]);
  process.stdout.write(`${JSON.stringify({ ok, failed, refused })}\n`);
  redis?.disconnect();
  process.stdin.destroy();
}

function storeOf(store: Assignment['store'], redis: Redis | null): TokenStore {
  if (store.kind === 'memory') return new MemoryTokenStore();
  if (store.kind === 'file') return new FileTokenStore(store.at);
  return new RedisTokenStore((command, ...rest) => (redis as Redis).call(command, ...rest));
}

void main();
