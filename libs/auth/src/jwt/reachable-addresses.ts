import { BlockList, isIP } from 'node:net';

const V4 = 'ipv4';
const V6 = 'ipv6';

/** What the special-purpose registry of IANA (RFC 6890) calls not globally reachable, and multicast. */
const CLOSED_V4 = blockListOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
]);
/** All other IPv6 addresses are none of the Internet, such as those that hold an IPv4 address. */
const OPEN_V6 = blockListOf(['2000::/3']);
/** Protocols of the IETF with Teredo, documentation, and 6to4. */
const CLOSED_V6 = blockListOf(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);
/** The last half of an ISATAP address, which holds an IPv4 address, too (RFC 5214, 6.1). */
const ISATAP = /:5efe:(:|[0-9a-f]{1,4}:[0-9a-f]{1,4})\]/;
const LOOPBACK = blockListOf(['127.0.0.0/8', '::1/128']);

/** Addresses and subnets, such as `10.0.0.0/8`. */
export function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, bits] = network.split('/') as [string, string?];
    const family = isIP(address) === 4 ? V4 : V6;
    list.addSubnet(address, Number(bits ?? (family === V4 ? 32 : 128)), family);
  }
  return list;
}

export const isIn = (list: BlockList, address: string): boolean =>
  !address.includes('%') && list.check(address, isIP(address) === 4 ? V4 : V6);

export const isLoopback = (address: string): boolean => isIn(LOOPBACK, address);

/** Whether the whole Internet reaches it. */
export function isGlobal(address: string): boolean {
  if (isIP(address) === 4) return !isIn(CLOSED_V4, address);
  if (!isIn(OPEN_V6, address) || isIn(CLOSED_V6, address)) return false;
  return !ISATAP.test(new URL(`http://[${address}]`).hostname);
}
