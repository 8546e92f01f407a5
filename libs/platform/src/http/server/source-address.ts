import { isIP } from 'node:net';
import { normalizeIp } from '@nestjs/throttler';
import type { Express, Request } from 'express';

/** Some proxies say the port as well. It is another one for each connection, and a client has as many as it likes. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]+)\](?::\d+)?|(?<v4>[\d.]+):\d+)$/;

function withoutPort(said: string): string {
  const { v6, v4 } = WITH_PORT.exec(said)?.groups ?? {};
  return v6 ?? v4 ?? said;
}

/** Has Express take the word of these proxies on where a request comes from, each known by its address, whatever its port. */
export function trustProxies(express: Express, proxies: readonly string[]): void {
  express.set('trust proxy', [...proxies]);
  const trusts = express.get('trust proxy fn') as (address: string, hop: number) => boolean;
  express.set('trust proxy', (address: string, hop: number) => trusts(withoutPort(address), hop));
}

/**
 * Where a request comes from: the address of the connection, or what a proxy of TRUST_PROXY says of it where that is one.
 * IPv6 addresses by their network of 64 bits, within which one customer has them all.
 */
export function sourceOf(request: Request): string {
  const address = withoutPort(request.ip ?? '');
  return normalizeIp(isIP(address) === 0 ? (request.socket.remoteAddress ?? '') : address, 64);
}
