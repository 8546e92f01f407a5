import { ReplyError } from 'ioredis';
import { meansAway, reasonOf } from './redis-fault';

const response = (message: string): Error => new (ReplyError as new (message: string) => Error)(message);

describe('A Redis error', () => {
  it.each([
    'LOADING Redis is loading the dataset in memory',
    'BUSY Redis is busy running a script.',
    "READONLY You can't write against a read only replica.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    'MISCONF Redis is configured to save RDB snapshots',
    'NOREPLICAS Not enough good replicas to write.',
    "OOM command not allowed when used memory > 'maxmemory'. script: 1, on @user_script:1.",
    'ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -OOM command not allowed when used memory',
    'NOAUTH Authentication required.',
    "NOPERM this user has no permissions to run the 'evalsha' command",
    'CLUSTERDOWN The cluster is down',
    'MOVED 1 10.0.0.1:6379',
    'DENIED Redis is running in protected mode',
    'ERR max number of clients reached',
  ])('means that Redis is away: %s', (message) => {
    expect(meansAway(response(message))).toBe(true);
  });

  it.each([
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    'NOSCRIPT No matching script. Please use EVAL.',
    "CROSSSLOT Keys in request don't hash to the same slot",
    'ERR user_script:1: attempt to perform arithmetic on a nil value script: 1, on @user_script:1.',
    "ERR unknown command 'x'",
  ])('means a wrong command: %s', (message) => {
    expect(meansAway(response(message))).toBe(false);
  });

  it('means that Redis is away when there is no reply', () => {
    expect(meansAway(new Error('Connection is closed.'))).toBe(true);
  });

  it('is logged without addresses, credentials and arguments', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:6379'), { code: 'ECONNREFUSED' });
    const noSentinel = new Error('All sentinels are unreachable. Retrying. Last error: connect 10.0.0.1:26379');
    const redirected = new Error('Too many Cluster redirections. Last error: ReplyError: MOVED 1 10.0.0.1:6379');
    const reasons = [
      reasonOf(refused),
      reasonOf(new Error('Connection is closed.'), refused),
      reasonOf(Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError: refused })),
      reasonOf(noSentinel),
      reasonOf(redirected),
      reasonOf(response('MOVED 1 10.0.0.1:6379')),
      reasonOf(response("ERR unknown command 'evalsha', with args beginning with: '10.0.0.1'")),
      reasonOf(new Error('10.0.0.1')),
    ];
    expect(reasons.join()).not.toContain('10.0.0.1');
    expect(reasons.slice(0, 3)).toEqual(['ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED']);
  });
});
