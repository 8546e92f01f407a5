import { type LookupAddress, lookup, promises } from 'node:dns';
import { type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { isIP } from 'node:net';
import { once } from 'node:events';
import type { Settings } from '#libs/platform/config';
import { z } from 'zod';
import { type ClientKey, jsonOf } from '../domain/client-assertion';
import { IssuerKeys, KeySetUnavailable, LARGEST_ISSUER_DOCUMENT, type TrustedIssuer } from '../domain/trusted-issuer';
import { blockListOf, isGlobal, isIn, isLoopback } from './reachable-addresses';

const PATIENCE_MS = 5_000;
/** DNS ends sooner: servers that drop questions for one family leave time for the addresses of the other. */
const DNS_PATIENCE_MS = 3_000;
/** Each try asks one DNS server after another, and waits for each of them. */
const DNS_TRIES = { timeout: 1_000, tries: 2 };
const DISCOVERY = z.object({ issuer: z.string(), jwks_uri: z.string() });

type IsOpen = (address: string) => boolean;

/**
 * Fetches key sets by the discovery document of OpenID Connect (Discovery 1.0, section 4). An issuer is the choice of a
 * customer, so it may lead to the Internet alone. Each connection goes to an address that was judged.
 */
export class IssuerKeysSystem extends IssuerKeys {
  constructor(
    private readonly settings: Settings,
    /** Reads a key set. @throws {@link KeySetUnavailable} */
    private readonly read: (text: string) => Promise<ClientKey[]>,
  ) {
    super();
  }

  async fetch(trusted: TrustedIssuer): Promise<ClientKey[]> {
    const { issuer, insecure } = trusted;
    if (insecure && this.settings.production)
      throw new KeySetUnavailable('An insecure issuer is refused in production.');
    const discovered = DISCOVERY.safeParse(
      jsonOf(await this.document(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, trusted)),
    );
    if (!discovered.success) throw new KeySetUnavailable('The discovery document names no issuer or no jwks_uri.');
    const { data } = discovered;
    if (data.issuer !== issuer) throw new KeySetUnavailable('The discovery document is of another issuer.');
    return this.read(await this.document(data.jwks_uri, trusted));
  }

  /** Returns the body at an address, as text. */
  private async document(address: string, { insecure, ofOperator }: TrustedIssuer): Promise<string> {
    const url = URL.canParse(address) ? new URL(address) : null;
    const isPlain = url?.protocol === 'http:';
    if (url === null || !(url.protocol === 'https:' || (insecure && isPlain)) || url.username || url.password) {
      throw new KeySetUnavailable('An address of the issuer is not https://.');
    }
    const own = blockListOf(ofOperator ? this.settings.trustIssuerNetworks : []);
    const isOpen: IsOpen = isPlain
      ? isLoopback
      : (one) => isGlobal(one) || isIn(own, one) || (insecure && isLoopback(one));
    const signal = AbortSignal.timeout(PATIENCE_MS);
    try {
      const found = await addressesOf(url.hostname.replace(/^\[|\]$/g, ''), ofOperator, signal);
      return await bodyOf(url, openOnes(found, isOpen, ofOperator), signal);
    } catch (error) {
      if (error instanceof KeySetUnavailable) throw error;
      throw new KeySetUnavailable(signal.aborted ? 'The issuer took too long.' : 'The issuer could not be reached.');
    }
  }
}

async function addressesOf(host: string, ofOperator: boolean, signal: AbortSignal): Promise<LookupAddress[]> {
  if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    if (ofOperator) lookup(host, { all: true }, (error, all) => (error ? reject(error) : resolve(all)));
    else addressesInDns(host).then(resolve, reject);
  });
}

/**
 * Asks DNS alone. A look-up of the operating system occupies one of two threads until it ends, and new connections to
 * Postgres and Redis need them. So a customer's slow name gets none.
 */
async function addressesInDns(host: string): Promise<LookupAddress[]> {
  const ask = async (family: 4 | 6, addresses: Promise<string[]>) =>
    (await addresses).map((address) => ({ address, family }));
  const resolver = new promises.Resolver(DNS_TRIES);
  const late = setTimeout(() => resolver.cancel(), DNS_PATIENCE_MS);
  const asked = await Promise.allSettled([ask(4, resolver.resolve4(host)), ask(6, resolver.resolve6(host))]);
  clearTimeout(late);
  const found = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (found.length === 0) throw new Error('DNS knows no address of the issuer.');
  return found;
}

/**
 * Returns the addresses that may be connected to. A customer does not learn that a name has a private address, which would
 * tell which names our own DNS knows.
 */
function openOnes(found: LookupAddress[], isOpen: IsOpen, ofOperator: boolean): LookupAddress[] {
  const open = found.filter(({ address }) => isOpen(address));
  if (open.length > 0) return open;
  throw new KeySetUnavailable(
    ofOperator
      ? 'The issuer has an address that is not reachable from everywhere.'
      : 'The issuer could not be reached.',
  );
}

async function bodyOf(url: URL, addresses: LookupAddress[], signal: AbortSignal): Promise<string> {
  const [{ address, family } = { address: '' }] = addresses;
  const send = url.protocol === 'https:' ? requestByHttps : requestByHttp;
  const request = send(url, {
    signal,
    // A connection of its own, to an address that was judged: a second look-up could tell another one.
    agent: false,
    lookup: (_host, { all }, callback) => (all ? callback(null, addresses) : callback(null, address, family)),
    headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'compliance-api' },
  });
  request.on('error', () => undefined).end();
  try {
    const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
    if (response.statusCode !== 200) throw new KeySetUnavailable('The issuer did not answer with 200.');
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > LARGEST_ISSUER_DOCUMENT) {
        throw new KeySetUnavailable(`A document of the issuer is over ${LARGEST_ISSUER_DOCUMENT} bytes.`);
      }
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    request.destroy();
  }
}
