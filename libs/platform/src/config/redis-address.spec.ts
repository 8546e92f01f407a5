import { type SettingsInvalid, loadSettings } from './settings';
import { RedisUrlInvalid, parseRedisUrl } from './redis-address';

const NOBODY = { user: null, password: null };

describe('REDIS_URL', () => {
  it.each([
    ['redis://h', { host: 'h', port: 6379 }, 0, false],
    ['redis://h:1/', { host: 'h', port: 1 }, 0, false],
    ['rediss://redis.example.com:6380/15', { host: 'redis.example.com', port: 6380 }, 15, true],
    ['redis://[::1]:7000/2', { host: '::1', port: 7000 }, 2, false],
  ])('names one node: %s', (url, node, database, tls) => {
    expect(parseRedisUrl(url)).toEqual({ kind: 'node', node, database, tls, credentials: NOBODY });
  });

  it('names sentinels and their name of the primary', () => {
    expect(parseRedisUrl('rediss+sentinel://api:secret@a,b:5/main.1/3?sentinelUser=s&sentinelPassword=a%26b')).toEqual({
      kind: 'sentinel',
      sentinels: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 5 },
      ],
      primary: 'main.1',
      database: 3,
      tls: true,
      credentials: { user: 'api', password: 'secret' },
      sentinelCredentials: { user: 's', password: 'a&b' },
    });
    expect(parseRedisUrl('redis+sentinel://a/main')).toMatchObject({
      ...{ primary: 'main', database: 0, tls: false },
      ...{ credentials: NOBODY, sentinelCredentials: NOBODY },
    });
  });

  it('names some nodes of a cluster', () => {
    expect(parseRedisUrl('redis+cluster://:p@a:1,[fe80::1]:2,c')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'fe80::1', port: 2 },
        { host: 'c', port: 6379 },
      ],
      tls: false,
      credentials: { user: null, password: 'p' },
    });
  });

  it('accepts every character of a password percent-encoded, and ":" as it is', () => {
    const password = 'p@ss/w:rd%1?#[,] ü';
    expect(parseRedisUrl(`redis://:${encodeURIComponent(password)}@h`).credentials).toEqual({ user: null, password });
    expect(parseRedisUrl('redis://me:a:b@h').credentials).toEqual({ user: 'me', password: 'a:b' });
  });

  it.each([
    ['hunter2', 'must begin with'],
    ['http://hunter2', 'must begin with'],
    ['redis+proxy://hunter2', 'must begin with'],
    ['redis://:hunter2@x@h', 'must begin with'],
    ['redis://:hunter2/x@h', 'must begin with'],
    ['redis://', 'must name hosts'],
    ['redis://:hunter2@:6379', 'must name hosts'],
    ['redis://hunter2:0', 'must name hosts'],
    ['redis://hunter2:65536', 'must name hosts'],
    ['redis://hunter2:port', 'must name hosts'],
    ['redis+cluster://hunter2,', 'must name hosts'],
    ['redis+cluster://hunter2, b', 'must name hosts'],
    ['redis://hunter2,b', 'must name one host'],
    ['redis://h/hunter2', 'must end in the number'],
    ['redis://h/-1', 'must end in the number'],
    ['redis://h/1/2', 'must end in the number'],
    ['redis+sentinel://h/main/hunter2', 'must end in the number'],
    ['redis+sentinel://hunter2', 'must name after the sentinels'],
    ['redis+sentinel://h/hunter 2', 'must name after the sentinels'],
    ['redis+cluster://h/1', 'must name no database'],
    ['redis://hunter2@h', 'must have a password'],
    ['redis://:hunter2%@h', 'must have % in user or password only'],
    ['redis://h?hunter2=1', 'must have no parameters'],
    ['redis+sentinel://h/main?hunter2=1', 'must have no parameters but'],
  ])('is refused at the start with the reason but without its value: %s', (url, reason) => {
    expect(() => parseRedisUrl(url)).toThrow(RedisUrlInvalid);
    try {
      loadSettings({ DATABASE_URL: 'postgres://db/d', PORT: 'x', REDIS_URL: url });
    } catch (error) {
      const { faults } = error as SettingsInvalid;
      expect(faults).toEqual([expect.stringMatching(/^PORT /), expect.stringContaining(`REDIS_URL ${reason}`)]);
      expect(faults.join()).not.toContain('hunter');
    }
    expect.assertions(3);
  });
});
