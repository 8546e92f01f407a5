import { isIP } from 'node:net';
import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';

/** Some proxies say the port as well. It is another one for each connection, and a client has as many as it likes. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]+)\](?::\d+)?|(?<v4>[\d.]+):\d+)$/;

/**
 * Where a request comes from: the address of the connection, or what a proxy of TRUST_PROXY says of it where that is one.
 * IPv6 addresses by their network of 64 bits, within which one customer has them all.
 */
export function sourceOf(request: Request): string {
  const said = request.ip ?? '';
  const { v6, v4 } = WITH_PORT.exec(said)?.groups ?? {};
  const address = v6 ?? v4 ?? said;
  return normalizeIp(isIP(address) === 0 ? (request.socket.remoteAddress ?? '') : address, 64);
}
