import { getEventListeners, once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { DEFAULT_RETRY } from './retry';
import { Transport } from './transport';
import { ComplianceClient, ConnectionLost, MemoryTokenStore, Problem, RedisTokenStore, type ClientOptions } from '.';

const BASE_URL = 'https://api.test';
const SECRET = 'cs_never-shown';
const TOKEN = 'at.never.shown';
const IN_A_WHILE = { firstPauseMs: 1 };

const json = (body: unknown, status = 200) => Response.json(body, { status });
const issued = () => json({ access_token: TOKEN, token_type: 'Bearer', expires_in: 3600 });
const proven = (assertion: () => Promise<string>) => ({ clientSecret: undefined, assertion });
const slow = async () => {
  await new Promise((resolve) => setTimeout(resolve, 30));
  return json({ id: 'x' });
};
const never = () => new Promise<never>(() => undefined);

type Answering = (request: Request, init?: RequestInit) => Response | Promise<Response>;

/** A client of a stubbed API, and the requests that the stub received. */
function talking(answers: { token?: Answering; rest?: Answering }, options: Partial<ClientOptions> = {}) {
  const asked: { path: string; redirect: string | undefined }[] = [];
  const client = new ComplianceClient({
    baseUrl: BASE_URL,
    clientId: 'ci_one',
    clientSecret: SECRET,
    retry: IN_A_WHILE,
    ...options,
    fetch: async (input, init) => {
      const request = input as Request;
      const path = new URL(request.url).pathname;
      asked.push({ path, redirect: init?.redirect ?? request.redirect });
      const { token = issued, rest = () => json({ id: 'x' }) } = answers;
      return path === '/oauth/token' ? token(request, init) : rest(request, init);
    },
  });
  return { client, asked, paths: () => asked.map(({ path }) => path) };
}

const listening = async (server: Server): Promise<string> => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => {
      throw new Error('It succeeded.');
    },
    (error: unknown) => error as Error,
  );

describe('A call that was aborted before it began', () => {
  it('sends nothing, requests no token and leaves no rejection behind', async () => {
    const left: unknown[] = [];
    const note = (error: unknown) => void left.push(error);
    process.on('unhandledRejection', note);
    try {
      const { client, paths } = talking({ token: () => Promise.reject(new TypeError('down')) });
      await expect(client.getAsset('x', { signal: AbortSignal.abort('given up') })).rejects.toBe('given up');
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect([paths(), left]).toEqual([[], []]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });
});

describe('A call', () => {
  it('leaves no listener on its signal, which may serve thousands of calls', async () => {
    const { client } = talking({ rest: () => json({ results: [], pageInfo: { hasNextPage: false } }) });
    const { signal } = new AbortController();

    await client.getAsset('x', { signal });
    await client.getHealth({ signal });
    await client.listAssets({}, { signal }).pages().next();

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('parses its response once', async () => {
    const { client } = talking({});
    await client.me();
    const parse = jest.spyOn(JSON, 'parse');

    const { body } = await client.getAsset('x');

    const { calls } = parse.mock;
    parse.mockRestore();
    expect([body, calls]).toEqual([{ id: 'x' }, [['{"id":"x"}']]]);
  });
});

describe('A list with filters', () => {
  it.each([
    [{ ids: [] }, '?ids='],
    [{ ids: ['a', 'b'], q: 'a & b', hasOwner: undefined }, '?ids=a%2Cb&q=a+%26+b'],
  ])('sends %j as %s', async (query, search) => {
    let asked = '';
    const { client } = talking({
      rest: ({ url }) => {
        asked = new URL(url).search;
        return json({ results: [], pageInfo: { hasNextPage: false } });
      },
    });

    for await (const _ of client.listAssets(query as object));

    expect(asked).toBe(search);
  });
});

describe('A token store', () => {
  it.each(['read', 'tryLock', 'write'] as const)(
    'whose %s never settles once fails one call, not the next',
    async (op) => {
      const tokenStore = new MemoryTokenStore();
      jest.spyOn(tokenStore, op).mockImplementationOnce(never);
      const { client } = talking({}, { tokenStore, timeoutMs: 900 });
      expect((await failureOf(client.getAsset('x'))).message).toMatch(/^The token store did not answer within 300 ms/);
      expect((await client.getAsset('x')).body).toEqual({ id: 'x' });
    },
  );

  it('whose unlock never settles fails one call, not the next', async () => {
    const tokenStore = new MemoryTokenStore();
    jest.spyOn(tokenStore, 'tryLock').mockResolvedValueOnce(never);
    const { client, paths } = talking({}, { tokenStore, timeoutMs: 900 });
    expect((await failureOf(client.getAsset('x'))).message).toMatch(/^The token store did not answer/);
    await client.getAsset('x');
    expect(paths()).toEqual(['/oauth/token', '/v1/inventory/assets/x']);
  });

  it('that stays locked delays an attempt by no more than its timeout', async () => {
    const tokenStore = new MemoryTokenStore();
    const unlock = await tokenStore.tryLock(`ci_one@${BASE_URL}`);
    const { client, paths } = talking({}, { tokenStore, timeoutMs: 60, retry: { attempts: 2, firstPauseMs: 1 } });
    const since = Date.now();
    expect(await failureOf(client.getAsset('x'))).toBeInstanceOf(ConnectionLost);
    const waited = Date.now() - since;
    expect(waited).toBeGreaterThanOrEqual(110);
    expect(waited).toBeLessThan(10_000);
    expect(paths()).toEqual([]);
    await unlock?.();
    expect((await client.getAsset('x')).body).toEqual({ id: 'x' });
  });
});

describe('A fetch that never settles and ignores its signal', () => {
  it.each(['token', 'rest'] as const)('(%s) is ended by the timeout', async (what) => {
    const { client } = talking({ [what]: never }, { timeoutMs: 40, retry: { attempts: 1 } });
    expect(await failureOf(client.getAsset('x'))).toBeInstanceOf(ConnectionLost);
  });
});

describe('An assertion that never settles', () => {
  it('is ended by the timeout', async () => {
    const { client, paths } = talking({}, { ...proven(never), timeoutMs: 40, retry: { attempts: 1 } });

    expect(await failureOf(client.getAsset('x'))).toBeInstanceOf(ConnectionLost);

    expect(paths()).toEqual([]);
  });

  it('gives the lock back, so that a later attempt gets a token', async () => {
    const assertion = jest.fn(() => Promise.resolve('a.b.c')).mockImplementationOnce(never);
    const { client } = talking({}, { ...proven(assertion), timeoutMs: 40 });

    expect((await client.getAsset('x')).body).toEqual({ id: 'x' });
  });
});

describe('Work under the lock of a store', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it.each([
    ['the token request', 15_000, () => talking({ token: never }, { timeoutMs: 600_000, retry: { attempts: 1 } })],
    [
      'the assertion and the token request',
      15_000,
      () => {
        const assertion = () => new Promise<string>((resolve) => setTimeout(resolve, 10_000, 'a.b.c'));
        return talking({ token: never }, { ...proven(assertion), timeoutMs: 600_000, retry: { attempts: 1 } });
      },
    ],
    [
      'an operation of the store',
      5_000,
      () => {
        const tokenStore = new MemoryTokenStore();
        jest.spyOn(tokenStore, 'write').mockImplementation(never);
        return talking({}, { tokenStore, timeoutMs: 600_000, retry: { attempts: 1 } });
      },
    ],
  ] as const)('ends before the lock expires, however long a call may take: %s', async (_, limitMs, make) => {
    let over = false;
    const call = failureOf(make().client.getAsset('x')).then(() => (over = true));
    await jest.advanceTimersByTimeAsync(limitMs - 100);
    expect(over).toBe(false);
    await jest.advanceTimersByTimeAsync(200);
    expect(over).toBe(true);
    await call;
  });
});

describe('A redirect', () => {
  const moved = () => new Response(null, { status: 308, headers: { Location: 'https://elsewhere.test/' } });

  it.each([
    ['of the token request', { token: moved }, 1],
    ['of any other', { rest: moved }, 2],
  ])('%s is a problem and is not followed', async (_, answers, requests) => {
    const { client, asked } = talking(answers);
    expect(await failureOf(client.getAsset('x'))).toMatchObject({
      name: 'Problem',
      code: 'unexpected_answer',
      status: 308,
      detail: expect.stringContaining('not followed') as string,
    });
    expect(asked.map(({ redirect }) => redirect)).toEqual(Array.from({ length: requests }, () => 'manual'));
  });

  it.each<[string, Answering]>([
    ['by the built-in fetch', fetch],
    ['by a fetch that ignores its second argument', (request) => fetch(request)],
  ])('does not take the secret to another server %s', async (_, token) => {
    const reached: string[] = [];
    const other = createServer((request, response) => void response.end(reached.push(request.url as string)));
    const otherOrigin = await listening(other);
    const api = createServer((_, response) => {
      response.writeHead(308, { Location: `${otherOrigin}/oauth/token` }).end();
    });
    try {
      const { client } = talking({ token }, { baseUrl: await listening(api) });
      expect(await failureOf(client.getAsset('x'))).toMatchObject({ code: 'unexpected_answer', status: 308 });
      expect(reached).toEqual([]);
    } finally {
      [api, other].forEach((server) => void server.close());
      [api, other].forEach((server) => void server.closeAllConnections());
    }
  });

  it('is not followed even without a token', async () => {
    const { client, asked } = talking({ rest: moved });
    expect(await failureOf(client.getHealth())).toMatchObject({ code: 'unexpected_answer', status: 308 });
    expect(asked.map(({ redirect }) => redirect)).toEqual(['manual']);
  });
});

describe('A printed client, store or list', () => {
  it('contains neither the secret nor the token', async () => {
    const tokenStore = new MemoryTokenStore();
    const { client } = talking({}, { tokenStore });
    await client.getAsset('x');
    const proof = () => Promise.resolve({ client_secret: SECRET });
    const credentials = { baseUrl: BASE_URL, clientId: 'ci_one', proof };
    const rest = { store: tokenStore, retry: DEFAULT_RETRY, timeoutMs: 1_000, fetch };
    const transport = new Transport({ ...credentials, ...rest });
    const command = Object.assign(async () => TOKEN, { password: SECRET });
    for (const shown of [client, transport, tokenStore, client.listAssets(), new RedisTokenStore(command)]) {
      const printed = [inspect(shown, { depth: 10, showHidden: false }), JSON.stringify(shown)].join();
      expect(printed).not.toContain(SECRET);
      expect(printed).not.toContain(TOKEN);
    }
  });
});

describe('A response that is not from the API', () => {
  const html = () => new Response(`<html>${TOKEN}</html>`, { headers: { 'Content-Type': 'text/html' } });

  it.each<[string, Answering]>([
    ['a page', html],
    ['broken JSON', () => new Response(`{"${TOKEN}`, { headers: { 'Content-Type': 'application/json' } })],
    ['null', () => json(null)],
    ['nothing in it', () => json({})],
    ['no token', () => json({ expires_in: 3600 })],
    ['an empty token', () => json({ access_token: '', expires_in: 3600 })],
    ['a token of two lines', () => json({ access_token: `${TOKEN}\n.`, expires_in: 3600 })],
    ['no lifetime', () => json({ access_token: TOKEN })],
    ['a lifetime in words', () => json({ access_token: TOKEN, expires_in: '3600' })],
    ['a lifetime that is over', () => json({ access_token: TOKEN, expires_in: 0 })],
  ])('is a problem when a token was requested: %s', async (_, token) => {
    const { client, paths } = talking({ token });
    const problem = (await failureOf(client.getAsset('x'))) as Problem;
    expect(problem).toBeInstanceOf(Problem);
    expect(problem).toMatchObject({ code: 'unexpected_answer', status: 200 });
    expect(inspect(problem)).not.toContain(TOKEN);
    expect(paths()).toEqual(['/oauth/token']);
  });

  it.each<[string, () => Response]>([
    ['broken JSON', () => new Response(`{"${TOKEN}`, { headers: { 'Content-Type': 'application/json' } })],
    ['nothing', () => new Response(null, { headers: { 'Content-Type': 'application/json', 'Content-Length': '0' } })],
    ['null', () => json(null)],
    ['a list', () => json([])],
    ['a word', () => json('fine')],
  ])('is a problem when it is %s instead of an asset, a list or a sign of life', async (_, rest) => {
    const { client, paths } = talking({ rest });
    for (const call of [
      () => client.getAsset('x'),
      () => client.listAssets().pages().next(),
      () => client.getHealth(),
    ]) {
      const problem = await failureOf(call());
      expect(problem).toMatchObject({ name: 'Problem', code: 'unexpected_answer', status: 200 });
      expect(inspect(problem)).not.toContain(TOKEN);
    }
    expect(paths()).toHaveLength(4);
  });

  it.each([{}, { results: [] }, { results: {}, pageInfo: { hasNextPage: false } }, { results: [], pageInfo: {} }])(
    'is a problem when it is not a page: %j',
    async (body) => {
      const { client } = talking({ rest: () => json(body) });
      expect(await failureOf(client.listAssets().pages().next())).toMatchObject({ code: 'unexpected_answer' });
    },
  );

  it('is a problem with a code of the client when it is an error without one', async () => {
    const { client } = talking({ rest: () => json({ code: 7, detail: {}, errors: 'all', requestId: 1 }, 400) });
    expect(await failureOf(client.getAsset('x'))).toMatchObject({
      ...{ name: 'Problem', code: 'unexpected_answer', status: 400, detail: '', errors: [], requestId: null },
    });
  });

  it('is a problem when it is a page instead of an asset', async () => {
    const { client } = talking({ rest: html });
    expect(await failureOf(client.getAsset('x'))).toMatchObject({ code: 'unexpected_answer', status: 200 });
  });
});

describe('A token that is no longer accepted', () => {
  const refusal = (code: string) => json({ code, status: 401 }, 401);

  it.each(['token_superseded', 'token_expired', 'token_invalid'])(
    '(%s) is renewed without telling the caller',
    async (code) => {
      let issues = 0;
      const { client, paths } = talking({
        token: () => json({ access_token: `t${(issues += 1)}`, expires_in: 3600 }),
        rest: ({ headers }) => (headers.get('Authorization') === 'Bearer t1' ? refusal(code) : json({ id: 'x' })),
      });
      const keys = { idempotencyKey: 'once' };
      expect((await client.updateAsset('x', {}, keys)).body).toEqual({ id: 'x' });
      expect(paths().filter((path) => path === '/oauth/token')).toHaveLength(2);
    },
  );

  it.each([
    [401, 'token_missing'],
    [403, 'insufficient_scope'],
    [401, 'unheard_of'],
  ])('is kept on %i %s, which the caller gets', async (status, code) => {
    const { client, paths } = talking({ rest: () => json({ code }, status) });
    expect(await failureOf(client.getAsset('x'))).toMatchObject({ code, status });
    expect(paths()).toEqual(['/oauth/token', '/v1/inventory/assets/x']);
  });
});

describe('An update that is sent again', () => {
  it('has the same key and body each time, and another key in another call', async () => {
    const sent: string[] = [];
    const faults = [
      () => json({ code: 'rate_limited' }, 429),
      () => json({ code: 'service_unavailable' }, 503),
      () => Promise.reject(new TypeError('fetch failed')),
      () => json({ code: 'token_superseded' }, 401),
    ];
    const rest = async (request: Request) => {
      sent.push(`${request.headers.get('Idempotency-Key')} ${await request.text()}`);
      return faults.shift()?.() ?? json({ id: 'x' });
    };
    let issues = 0;
    const token = () => json({ access_token: `t${(issues += 1)}`, expires_in: 3600 });
    const { client } = talking({ token, rest });
    await client.updateAsset('x', { description: 'Once' });
    expect([sent.length, new Set(sent).size]).toEqual([5, 1]);
    expect(sent[0]).toMatch(/^[0-9a-f-]{36} \{"description":"Once"\}$/);
    await client.updateAsset('x', { description: 'Once' });
    expect(new Set(sent).size).toBe(2);
  });
});

describe('A call without a time limit', () => {
  it('waits as long as needed', async () => {
    const retry = { ...IN_A_WHILE, attempts: 1, longestCallMs: Infinity };
    const { client } = talking({ rest: slow }, { timeoutMs: Infinity, retry });
    expect((await client.getAsset('x')).body).toEqual({ id: 'x' });
  });
});

describe('An update that fails repeatedly', () => {
  const soon = () => new Response('{"code":"service_unavailable"}', { status: 503, headers: { 'Retry-After': '60' } });

  it('is not sent again after its time limit, however many attempts remain', async () => {
    const { client, paths } = talking({ rest: soon }, { retry: { ...IN_A_WHILE, longestCallMs: 20_000 } });
    const since = Date.now();
    expect(await failureOf(client.updateAsset('x', {}))).toMatchObject({ code: 'service_unavailable' });
    // The next attempt would start after the time limit, so the client does not wait for it.
    expect(Date.now() - since).toBeLessThan(15_000);
    expect(paths()).toEqual(['/oauth/token', '/v1/inventory/assets/x']);
  });

  it('is ended during an attempt with the reason of the previous one', async () => {
    let sent = 0;
    const rest = () => ((sent += 1) === 1 ? json({ code: 'service_unavailable' }, 503) : never());
    const { client } = talking({ rest }, { retry: { ...IN_A_WHILE, longestCallMs: 500 } });
    expect(await failureOf(client.updateAsset('x', {}))).toMatchObject({ code: 'service_unavailable' });
    expect(sent).toBe(2);
  });

  it('is ended during its first attempt, too', async () => {
    const { client } = talking({ rest: never }, { retry: { ...IN_A_WHILE, longestCallMs: 40 } });
    expect(await failureOf(client.updateAsset('x', {}))).toBeInstanceOf(ConnectionLost);
  });
});

describe('A client', () => {
  it('proves itself in exactly one way', () => {
    const assertion = () => Promise.resolve('a.b.c');
    for (const options of [{}, { clientSecret: undefined }, { clientSecret: SECRET, assertion }]) {
      expect(() => new ComplianceClient({ baseUrl: BASE_URL, clientId: 'ci_one', ...options })).toThrow('exactly one');
    }
  });

  it('sends no update whose ifMatch is null, as it would overwrite any version', async () => {
    const { client, paths } = talking({});

    expect(await failureOf(client.updateAsset('x', {}, { ifMatch: null }))).toBeInstanceOf(TypeError);

    expect(paths()).toEqual([]);
  });

  it('refuses a time limit that is no number', () => {
    const options = { baseUrl: BASE_URL, clientId: 'ci_one', clientSecret: SECRET };
    for (const limit of [{ timeoutMs: NaN }, { retry: { longestCallMs: Number('soon') } }]) {
      expect(() => new ComplianceClient({ ...options, ...limit })).toThrow(TypeError);
    }
    const client = new ComplianceClient(options);
    expect(() => client.changes({}, { pollMs: NaN })).toThrow(TypeError);
  });

  it('has its defaults for options that are undefined', async () => {
    const retry = { longestCallMs: undefined, attempts: undefined } as unknown as object;
    const { client } = talking({ rest: slow }, { timeoutMs: undefined as unknown as number, retry });

    expect((await client.getAsset('x')).body).toEqual({ id: 'x' });
  });
});
