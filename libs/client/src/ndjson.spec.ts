import { setImmediate as turn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ComplianceClient } from '.';

/** Returns a client of an API that begins one stream and leaves it open. */
function streaming(lines: string): ComplianceClient {
  const start = (controller: ReadableStreamDefaultController) => controller.enqueue(new TextEncoder().encode(lines));
  const stream = () =>
    new Response(new ReadableStream({ start }), {
      headers: { 'Content-Type': 'application/x-ndjson', 'X-Request-Id': 'r-1' },
    });
  return new ComplianceClient({
    ...{ baseUrl: 'https://api.test', clientId: 'ci_one', clientSecret: 'cs_one', timeoutMs: 10_000 },
    fetch: async (input) =>
      (input as Request).method === 'POST' ? Response.json({ access_token: 't', expires_in: 3600 }) : stream(),
  });
}

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let times = 0; times < 3; times += 1) {
    await turn();
    collect();
  }
}

describe('The stream of an export', () => {
  it('stops when it is aborted, also after garbage was collected', async () => {
    const leaving = new AbortController();
    const lines = '{"type":"asset","asset":{"id":"x"}}\n{"type":"checkpoint","pageCursor":"a"}\n';
    const batches = streaming(lines).export({}, { signal: leaving.signal }).batches();
    await batches.next();
    await collectGarbage();

    const since = Date.now();
    setTimeout(() => leaving.abort('given up'), 20);

    await expect(batches.next()).rejects.toBe('given up');
    expect(Date.now() - since).toBeLessThan(5_000);
  });

  it.each(['{"secret":', 'null', '[]', '7', ''])(
    'is a problem that quotes nothing when it has the line %j',
    async (line) => {
      const batches = streaming(`${line}\n`).export().batches();

      const failure = await batches.next().catch((error: unknown) => error);

      expect(failure).toMatchObject({ name: 'Problem', code: 'unexpected_answer', status: 200, requestId: 'r-1' });
      expect(inspect(failure)).not.toContain('secret');
    },
  );
});
