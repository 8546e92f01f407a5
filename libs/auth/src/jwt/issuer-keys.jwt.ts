import { type LookupAddress, promises } from 'node:dns';
import { type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { isIP } from 'node:net';
import { once } from 'node:events';
import { Injectable } from '@nestjs/common';
import { readForeignBody } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import { z } from 'zod';
import { type ClientKey, jsonOf } from '../domain/client-assertion';
import { IssuerKeys, KeySetUnavailable, LARGEST_ISSUER_DOCUMENT, type TrustedIssuer } from '../domain/trusted-issuer';
import { readIssuerKeys } from './public-jwks';
import { blockListOf, isGlobal, isIn, isLoopback } from './reachable-addresses';

const PATIENCE_MS = 5_000;
/** Each DNS server is asked once. Servers that drop questions for one family leave time for the addresses of the other. */
const DNS = { timeout: 1_000, tries: 1 };
const DISCOVERY = z.object({ issuer: z.string(), jwks_uri: z.string() });

/**
 * Fetches key sets by the discovery document of OpenID Connect (Discovery 1.0, section 4). An issuer is the choice of a
 * customer, so it may lead to the Internet alone. Each connection goes to an address that was judged.
 */
@Injectable()
export class IssuerKeysJwt extends IssuerKeys {
  constructor(private readonly settings: Settings) {
    super();
  }

  async fetch(trusted: TrustedIssuer): Promise<ClientKey[]> {
    const { issuer, insecure } = trusted;
    if (insecure && this.settings.production) throw new KeySetUnavailable('insecure');
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const { data } = DISCOVERY.safeParse(jsonOf(await this.document(address, trusted)));
    if (!data) throw new KeySetUnavailable('noDiscovery');
    // OpenID Connect Discovery 1.0, 4.3.
    if (data.issuer !== issuer) throw new KeySetUnavailable('ofAnother');
    return readIssuerKeys(await this.document(data.jwks_uri, trusted));
  }

  /** Returns the body at an address, as text. */
  private async document(address: string, { insecure, ofOperator }: TrustedIssuer): Promise<string> {
    const url = URL.canParse(address) ? new URL(address) : null;
    const isPlain = url?.protocol === 'http:';
    if (url === null || !(url.protocol === 'https:' || (insecure && isPlain)) || url.username || url.password) {
      throw new KeySetUnavailable('notHttps');
    }
    const own = blockListOf(ofOperator ? this.settings.trustIssuerNetworks : []);
    const isOpen = (one: string): boolean =>
      isPlain ? isLoopback(one) : isGlobal(one) || isIn(own, one) || (insecure && isLoopback(one));
    const signal = AbortSignal.timeout(PATIENCE_MS);
    try {
      // No look-up can be aborted.
      const late = once(signal, 'abort').then(() => Promise.reject(new KeySetUnavailable('late')));
      const found = await Promise.race([addressesOf(url.hostname.replace(/^\[|\]$/g, ''), ofOperator), late]);
      const open = found.filter(({ address }) => isOpen(address));
      // A customer does not learn that a name has a private address, which would tell which names our own DNS knows.
      if (open.length === 0) throw new KeySetUnavailable(ofOperator ? 'notReachable' : 'notReached');
      return await bodyOf(url, open, signal);
    } catch (error) {
      if (error instanceof KeySetUnavailable) throw error;
      throw new KeySetUnavailable(signal.aborted ? 'late' : 'notReached');
    }
  }
}

/**
 * Asks DNS alone for a customer. A look-up of the operating system occupies one of two threads until it ends, and new
 * connections to Postgres and Redis need them. So a customer's slow name gets none.
 */
async function addressesOf(host: string, ofOperator: boolean): Promise<LookupAddress[]> {
  if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
  if (ofOperator) return promises.lookup(host, { all: true });
  const resolver = new promises.Resolver(DNS);
  const asked = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  return found.map((address) => ({ address, family: isIP(address) }));
}

async function bodyOf(url: URL, addresses: LookupAddress[], signal: AbortSignal): Promise<string> {
  const [first] = addresses;
  const send = url.protocol === 'https:' ? requestByHttps : requestByHttp;
  const request = send(url, {
    signal,
    // A connection of its own, to an address that was judged: a second look-up could tell another one.
    agent: false,
    lookup: (_host, { all }, callback) =>
      all ? callback(null, addresses) : callback(null, String(first?.address), first?.family),
    headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'compliance-api' },
  });
  request.on('error', () => undefined).end();
  try {
    const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
    if (response.statusCode !== 200) throw new KeySetUnavailable('not200');
    const body = await readForeignBody(response, LARGEST_ISSUER_DOCUMENT);
    if (body === null) throw new KeySetUnavailable('large');
    return body.toString('utf8');
  } finally {
    request.destroy();
  }
}
