import type { Settings } from '#libs/platform/config';
import type { Request } from 'express';

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

/** Whether links sign people in: on this machine only, and not where there is an issuer or a proxy. */
export function linksWork({ production, console: { oidc, host } }: Settings, { socket, headers }: Request): boolean {
  const ends = [host === 'localhost' ? '127.0.0.1' : host, socket.localAddress, socket.remoteAddress];
  const isLocal = ends.every((address) => LOOPBACK.test(address ?? ''));
  const isForwarded = Object.keys(headers).some((name) => /^(?:x-)?forwarded|^x-real-ip$|^via$/.test(name));
  return isLocal && !isForwarded && !production && oidc === null;
}
