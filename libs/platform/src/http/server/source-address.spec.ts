import type { Request } from 'express';
import { sourceOf } from './source-address';

const from = (ip: string): string =>
  sourceOf({ ip, socket: { remoteAddress: '::ffff:192.0.2.9' } } as unknown as Request);

describe('The source address of a request', () => {
  it.each([
    ['an IPv4 address', '198.51.100.7', '198.51.100.7'],
    ['one that stands in an IPv6 address', '::ffff:198.51.100.7', '198.51.100.7'],
    ['an IPv6 address: its network of 64 bits', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['an address with a port, which is another one for each connection', '198.51.100.7:50123', '198.51.100.7'],
    ['an IPv6 address with a port', '[2001:db8:1:2::5]:50123', '2001:db8:1:2::/64'],
    ['an IPv6 address in brackets', '[2001:db8:1:2::5]', '2001:db8:1:2::/64'],
    ['no address: that of the connection', 'unknown', '192.0.2.9'],
    ['nothing', '', '192.0.2.9'],
  ])('is %s', (_, said, source) => {
    expect(from(said)).toBe(source);
  });
});
