import { type Socket, createSocket } from 'node:dgram';
import dns from 'node:dns';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net';
import { Settings } from '#libs/platform/config';
import { StandInIssuer } from '../../../../test/support/stand-in-issuer';
import { KeySetUnavailable } from '../domain/trusted-issuer';
import { IssuerKeysJwt } from './issuer-keys.jwt';

const A_RECORD = 1;

describe('The key set of an issuer', () => {
  let issuer: StandInIssuer;
  beforeEach(async () => {
    issuer = await StandInIssuer.start('ES256');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await issuer.stop();
  });

  const settings = (changes: Partial<Settings> = {}): Settings =>
    Object.assign(new Settings(), { production: false, trustIssuerNetworks: [], ...changes });
  const fetch = (source: object = {}, changes: Partial<Settings> = {}) =>
    new IssuerKeysJwt(settings(changes)).fetch({
      ...{ issuer: issuer.url, insecure: true, ofOperator: true },
      ...source,
    });

  it('is had by the discovery document', async () => {
    expect(await fetch()).toMatchObject([{ algorithms: ['ES256'], jwk: { kty: 'EC', crv: 'P-256' } }]);
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  it('is had at an issuer that ends in a slash, which its document repeats', async () => {
    issuer.discovery = { ...issuer.discovery, issuer: `${issuer.url}/` };
    expect(await fetch({ issuer: `${issuer.url}/` })).toHaveLength(1);
    await expect(fetch()).rejects.toThrow('another issuer');
  });

  it('leaves out keys that cannot be used', async () => {
    const [good] = issuer.keys;
    const odd = [
      { ...good, kid: 'e', use: 'enc' },
      { kty: 'oct', k: 'AAAA' },
      { ...good, d: 'x' },
      null,
      7,
      { kty: 'RSA' },
    ];
    issuer.keys = [...odd, good] as never;
    expect(await fetch()).toHaveLength(1);
    issuer.keys = odd as never;
    await expect(fetch()).rejects.toThrow('no key that can be used');
  });

  it('never has a text that cannot be stored', async () => {
    const [good] = issuer.keys;
    issuer.keys = [
      { ...good, kid: 'a\u0000' },
      { ...good, kid: '\ud800' },
      { ...good, kid: 'ключ' },
    ];
    expect((await fetch()).map(({ kid }) => kid)).toEqual(['ключ']);
  });

  const answers = (path: string, status: number, headers: Record<string, string>, body: string | Buffer) =>
    issuer.answers.set(path, (_, response) => response.writeHead(status, headers).end(body));

  it.each<[string, string, () => void]>([
    ['redirects', 'did not answer with 200', () => answers('/jwks', 302, { Location: `${issuer.url}/other` }, '')],
    ['is large', 'over 262144 bytes', () => answers('/jwks', 200, {}, Buffer.alloc(300_000, 32))],
    [
      'has more than 100 keys',
      'more than 100',
      () => (issuer.keys = Array.from({ length: 101 }, () => issuer.keys[0]!)),
    ],
    ['is no JSON', 'no JWK set', () => answers('/jwks', 200, {}, '<html>')],
    ['is nested', 'no JWK set', () => answers('/jwks', 200, {}, '['.repeat(200_000))],
    ['fails', 'did not answer with 200', () => answers('/jwks', 500, {}, '')],
    ['has a discovery document without jwks_uri', 'names no', () => (issuer.discovery = { issuer: issuer.url })],
    [
      'is of another issuer',
      'another issuer',
      () => (issuer.discovery = { ...issuer.discovery, issuer: 'https://x.example' }),
    ],
    [
      'leads elsewhere',
      'not reachable from everywhere',
      () => (issuer.discovery = { ...issuer.discovery, jwks_uri: 'https://169.254.169.254/latest' }),
    ],
    [
      'leads to a private host without https',
      'not reachable',
      () => (issuer.discovery = { ...issuer.discovery, jwks_uri: 'http://10.0.0.1/jwks' }),
    ],
    [
      'leads to a file',
      'not https',
      () => (issuer.discovery = { ...issuer.discovery, jwks_uri: 'file:///etc/passwd' }),
    ],
    [
      'leads to an address with a password',
      'not https',
      () => (issuer.discovery = { ...issuer.discovery, jwks_uri: 'https://a:b@x.example/' }),
    ],
    [
      'closes the connection',
      'could not be reached',
      () => issuer.answers.set('/jwks', (request) => request.socket.destroy()),
    ],
  ])('cannot be had when it %s', async (_, reason, prepare) => {
    prepare();
    await expect(fetch()).rejects.toThrow(reason);
    expect(issuer.asked).not.toContain('/other');
  });

  /** Starts two DNS servers on a loopback address, which alone are asked for names of customers' issuers. */
  const startDns = async (answer: (query: Buffer) => Buffer | null): Promise<Socket[]> => {
    const servers = [createSocket('udp4'), createSocket('udp4')];
    for (const server of servers) {
      server.on('message', (query, { port }) => {
        const response = answer(query);
        if (response) server.send(response, port);
      });
      await once(server.bind(0, '127.0.0.1'), 'listening');
    }
    const { Resolver } = dns.promises;
    jest.spyOn(dns.promises, 'Resolver').mockImplementation((options) => {
      const resolver = new Resolver(options);
      resolver.setServers(servers.map((server) => `127.0.0.1:${server.address().port}`));
      return resolver;
    });
    return servers;
  };

  it('cannot be had when it dribbles, or the name of an operator is not told, for more than five seconds', async () => {
    issuer.answers.set('/jwks', (_, response) => {
      const timer = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(timer));
    });
    jest.spyOn(dns.promises, 'lookup').mockReturnValue(new Promise(() => undefined));
    const since = performance.now();

    const tried = await Promise.allSettled([fetch(), fetch({ issuer: 'https://issuer.example', insecure: false })]);

    expect(performance.now() - since).toBeLessThan(7_000);
    const late = { status: 'rejected', reason: new KeySetUnavailable('late') };
    expect(tried).toEqual([late, late]);
  }, 15_000);

  const ofCustomer = { issuer: 'https://issuer.example', insecure: false, ofOperator: false };

  it('cannot be had when no DNS server tells the name of a customer', async () => {
    const silent = await startDns(() => null);
    const lookups = [jest.spyOn(dns, 'lookup'), jest.spyOn(dns.promises, 'lookup')];

    await expect(fetch(ofCustomer)).rejects.toThrow('The issuer could not be reached.');

    // A customer's name never occupies a thread that connections to Postgres need.
    for (const lookup of lookups) expect(lookup).not.toHaveBeenCalled();
    silent.forEach((server) => server.close());
  }, 15_000);

  it('asks the issuer where DNS servers drop the question for IPv6 addresses', async () => {
    const servers = await startDns((query) => {
      const question = query.subarray(12, query.indexOf(0, 12) + 5);
      if (question.readUInt16BE(question.length - 4) !== A_RECORD) return null;
      const header = Buffer.from('81800001000100000000', 'hex');
      const address = Buffer.from('c00c000100010000003c000408080808', 'hex');
      return Buffer.concat([query.subarray(0, 2), header, question, address]);
    });
    const requests = jest.spyOn(https, 'request') as unknown as jest.Mock;
    requests.mockImplementation(() => {
      throw new Error('The test has no way out.');
    });

    await expect(fetch(ofCustomer)).rejects.toThrow('could not be reached');

    const [[, { lookup }]] = requests.mock.calls as [[URL, https.RequestOptions]];
    const told = jest.fn();
    lookup?.('issuer.example', { all: true }, told);
    expect(told).toHaveBeenCalledWith(null, [{ address: '8.8.8.8', family: 4 }]);
    servers.forEach((server) => server.close());
  }, 15_000);

  it('is never fetched from a loopback address without --insecure, nor in production', async () => {
    const plain = issuer.url.replace('http:', 'https:');
    await expect(fetch({ insecure: false })).rejects.toThrow('not https');
    await expect(fetch({ issuer: plain, insecure: false })).rejects.toThrow('not reachable from everywhere');
    await expect(fetch({}, { production: true })).rejects.toThrow('production');
    expect(issuer.asked).toEqual([]);
  });

  it('is fetched in a private network for operators alone', async () => {
    const source = { issuer: issuer.url.replace('http:', 'https:'), insecure: false };
    const networks = { trustIssuerNetworks: ['127.0.0.0/8'] };
    // TLS fails, so a connection was made.
    await expect(fetch(source, networks)).rejects.toThrow('could not be reached');
    const asked = jest.spyOn(https, 'request');
    await expect(fetch({ ...source, ofOperator: false }, networks)).rejects.toThrow('could not be reached');
    expect(asked).not.toHaveBeenCalled();
  });

  it('tells a customer the same of a private name as of an unknown one', async () => {
    const addresses = jest.spyOn(dns.promises.Resolver.prototype, 'resolve4');
    jest
      .spyOn(dns.promises.Resolver.prototype, 'resolve6')
      .mockRejectedValue(new Error('queryAaaa ENODATA vault.internal'));
    const source = { issuer: 'https://vault.internal', insecure: false, ofOperator: false };
    const reasons: unknown[] = [];
    addresses.mockResolvedValueOnce(['10.0.0.1'] as never);
    await fetch(source).catch((error: unknown) => reasons.push(error));
    addresses.mockRejectedValueOnce(new Error('queryA ENOTFOUND vault.internal'));
    await fetch(source).catch((error: unknown) => reasons.push(error));
    const unreached = new KeySetUnavailable('notReached');
    expect(reasons).toEqual([unreached, unreached]);
  });

  it('is fetched by its name where Node may not choose the family of addresses', async () => {
    const named = `http://localhost:${new URL(issuer.url).port}`;
    issuer.discovery = { issuer: named, jwks_uri: `${named}/jwks` };
    jest.spyOn(dns.promises, 'lookup').mockResolvedValue([{ address: '127.0.0.1', family: 4 }] as never);
    const chooses = getDefaultAutoSelectFamily();
    setDefaultAutoSelectFamily(false);
    try {
      expect(await fetch({ issuer: named })).toHaveLength(1);
    } finally {
      setDefaultAutoSelectFamily(chooses);
    }
  });

  it('connects to those addresses of a name alone that are open', async () => {
    const all = ['10.0.0.1', '127.0.0.1'].map((address) => ({ address, family: 4 }));
    jest.spyOn(dns.promises, 'lookup').mockResolvedValue(all as never);
    const requests = jest.spyOn(http, 'request') as unknown as jest.Mock;
    const mixed = `http://mixed.example:${new URL(issuer.url).port}`;
    issuer.discovery = { issuer: mixed, jwks_uri: `${mixed}/jwks` };
    await fetch({ issuer: mixed });
    for (const [, { lookup }] of requests.mock.calls as [URL, http.RequestOptions][]) {
      const told = jest.fn();
      lookup?.('mixed.example', { all: true }, told);
      expect(told).toHaveBeenCalledWith(null, [all[1]]);
    }
  });

  it('connects to the address that was judged, whatever the name says later', async () => {
    jest
      .spyOn(dns.promises, 'lookup')
      .mockResolvedValueOnce([{ address: '127.0.0.1', family: 4 }] as never)
      .mockResolvedValue([{ address: '10.0.0.1', family: 4 }] as never);
    const port = new URL(issuer.url).port;
    const rebinding = `http://rebinding.example:${port}`;
    issuer.discovery = { issuer: rebinding, jwks_uri: `${rebinding}/jwks` };
    await expect(fetch({ issuer: rebinding })).rejects.toThrow('not reachable');
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration']);
  });
});
