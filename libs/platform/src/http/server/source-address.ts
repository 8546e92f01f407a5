import { isIP } from 'node:net';
import { normalizeIp } from '@nestjs/throttler';
import type { Express, Request } from 'express';

/** Some proxies append the port. It must be removed: it differs for each connection. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]+)\](?::\d+)?|(?<v4>[\d.]+):\d+)$/;

function withoutPort(said: string): string {
  const { v6, v4 } = WITH_PORT.exec(said)?.groups ?? {};
  return v6 ?? v4 ?? said;
}

/** Makes Express trust these proxies for the client's address. Each is identified by its address, whatever its port. */
export function trustProxies(express: Express, proxies: readonly string[]): void {
  express.set('trust proxy', [...proxies]);
  const trusts = express.get('trust proxy fn') as (address: string, hop: number) => boolean;
  express.set('trust proxy', (address: string, hop: number) => trusts(withoutPort(address), hop));
}

/**
 * Returns the source of a request: the address of the connection, or the address that a proxy of TRUST_PROXY reports.
 * IPv6 addresses are reduced to their /64 network, because one customer usually owns all of it.
 */
export function sourceOf(request: Request): string {
  const address = withoutPort(request.ip ?? '');
  return normalizeIp(isIP(address) === 0 ? (request.socket.remoteAddress ?? '') : address, 64);
}
