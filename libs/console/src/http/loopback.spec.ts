import { type Settings } from '#libs/platform/config';
import type { Request } from 'express';
import { linksWork } from './loopback';

interface Case {
  readonly production?: boolean;
  readonly oidc?: object | null;
  readonly host?: string;
  readonly local?: string;
  readonly remote?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

describe('Links sign people in', () => {
  const work = ({
    production = false,
    oidc = null,
    host = '127.0.0.1',
    local,
    remote,
    headers = {},
  }: Case): boolean => {
    const socket = { localAddress: local ?? '127.0.0.1', remoteAddress: remote ?? '127.0.0.1' };
    return linksWork({ production, console: { oidc, host } } as Settings, { socket, headers } as unknown as Request);
  };

  it.each<[string, Case]>([
    ['by IPv4', {}],
    ['by IPv6', { host: '::1', local: '::1', remote: '::1' }],
    ['by IPv4 in IPv6', { host: 'localhost', local: '::ffff:127.0.0.1', remote: '::ffff:127.0.0.2' }],
  ])('on one machine %s', (_, given) => {
    expect(work(given)).toBe(true);
  });

  it.each<[string, Case]>([
    ['in production', { production: true }],
    ['where there is an issuer', { oidc: {} }],
    ['on a listener of all addresses', { host: '0.0.0.0' }],
    ['at another address of the machine', { local: '192.0.2.1' }],
    ['from another machine', { remote: '192.0.2.1' }],
    ['from another machine by IPv6', { remote: '::ffff:192.0.2.1' }],
    ['from nowhere', { remote: '' }],
    ['behind a proxy that says so by Forwarded', { headers: { forwarded: 'for=x' } }],
    ['behind a proxy that says so by Via', { headers: { via: '1.1 x' } }],
    ['behind a proxy that says so by X-Forwarded-Proto', { headers: { 'x-forwarded-proto': 'https' } }],
  ])('never %s', (_, given) => {
    expect(work(given)).toBe(false);
  });
});
