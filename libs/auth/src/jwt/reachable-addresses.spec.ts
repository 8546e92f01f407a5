import { blockListOf, isGlobal, isIn, isLoopback } from './reachable-addresses';

describe('An address', () => {
  it.each([
    '8.8.8.8',
    '140.82.112.5',
    '100.63.255.255',
    '172.32.0.1',
    '2606:50c0:8000::154',
    '2a00:1450:4001:82a::200a',
  ])('is reachable from everywhere: %s', (address) => expect(isGlobal(address)).toBe(true));

  it.each([
    ...[
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '127.0.0.1',
      '127.9.9.9',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
    ],
    ...[
      '192.0.0.1',
      '192.0.2.1',
      '192.168.1.1',
      '198.18.0.1',
      '198.51.100.1',
      '203.0.113.1',
      '224.0.0.1',
      '255.255.255.255',
    ],
    ...[
      '::',
      '::1',
      'fc00::1',
      'fd12:3456::1',
      'fe80::1',
      'fe80::1%eth0',
      'ff02::1',
      '2001:db8::1',
      '3fff::1',
      '5f00::1',
    ],
    // IPv4 within IPv6: mapped, compatible, translated, NAT64 with both prefixes, Teredo, 6to4, ISATAP.
    ...['::ffff:10.0.0.1', '::ffff:8.8.8.8', '::10.0.0.1', '::ffff:0:10.0.0.1', '64:ff9b::a00:1', '64:ff9b:1::a00:1'],
    ...[
      '2001:0:4136:e378:8000:63bf:3fff:fdd2',
      '2002:a00:1::1',
      '2606:50c0:8000::5efe:a00:1',
      '2606:50c0:8000::154%1',
      '2606:50c0::200:5efe:a00:1',
      '2606:50c0:0:1:0:5efe:0:0',
      '2606:50c0::5efe:c0a8:101',
    ],
    ...['not an address', ''],
  ])('is not: %s', (address) => expect(isGlobal(address)).toBe(false));

  it('is in a listed network', () => {
    const list = blockListOf(['10.20.0.0/16', '192.168.1.7', 'fd00::/16', 'fd12::1']);
    expect(['10.20.3.4', '192.168.1.7', 'fd12::1'].map((address) => isIn(list, address))).toEqual([true, true, true]);
    const others = ['10.21.0.1', '192.168.1.8', 'fe80::1', 'fd12::2', 'none'];
    expect(others.filter((address) => isIn(list, address))).toEqual([]);
    expect(isLoopback('::1') && isLoopback('127.0.0.1') && !isLoopback('10.0.0.1')).toBe(true);
  });
});
