import { ReplyError } from 'ioredis';
import { CircuitBreaker, RedisAway } from './circuit-breaker';

const never = (): Promise<never> => new Promise(() => undefined);
const replies = async (): Promise<string> => 'OK';
const isCut = async (): Promise<never> => {
  throw new Error('Connection is closed.');
};
const refuses = async (): Promise<never> => {
  throw new (ReplyError as new (message: string) => Error)('WRONGTYPE');
};

describe('The circuit breaker', () => {
  let said: string[];
  let probed: string[];
  let probe: () => Promise<unknown>;
  let breaker: CircuitBreaker;
  beforeEach(() => {
    jest.useFakeTimers();
    [said, probed, probe] = [[], [], replies];
    breaker = new CircuitBreaker(
      {
        opened: () => void said.push('opened'),
        closed: () => void said.push('closed'),
        probeFailed: () => void said.push('probe failed'),
      },
      async (key) => {
        probed.push(key);
        await probe();
      },
    );
  });
  afterEach(() => {
    breaker.end();
    jest.useRealTimers();
  });

  const run = (command: () => Promise<string>, key = 'k'): Promise<string> =>
    breaker.run(key, command).catch((error: unknown) => (error instanceof RedisAway ? 'away' : 'refused'));
  const later = (milliseconds: number): Promise<void> => jest.advanceTimersByTimeAsync(milliseconds);

  it('passes commands and their errors while it is closed', async () => {
    expect([await run(replies), await run(refuses), await run(replies)]).toEqual(['OK', 'refused', 'OK']);
    expect(said).toEqual([]);
  });

  it('passes no command after a failure until a probe of the same key succeeds', async () => {
    const asked = jest.fn(replies);

    expect(await run(isCut, 'cut')).toBe('away');
    expect([await run(asked), breaker.isClosed]).toEqual(['away', false]);
    await later(999);
    expect([await run(asked), probed]).toEqual(['away', []]);
    await later(1);

    expect([await run(asked), probed, said]).toEqual(['OK', ['cut'], ['opened', 'closed']]);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('lets a command wait for 50 ms, and none wait for the probe', async () => {
    const [first, second] = [run(never), run(never)];
    await later(49);
    expect(said).toEqual([]);
    await later(3);
    expect([await first, await second, said]).toEqual(['away', 'away', ['opened']]);

    probe = never;
    await later(1_000);
    expect([probed, await run(replies)]).toEqual([['k'], 'away']);
    await later(52);
    expect(said).toEqual(['opened', 'probe failed']);
  });

  it('probes once a second while Redis is away', async () => {
    probe = isCut;
    await run(isCut);
    await later(3_000);
    expect([probed.length, said]).toEqual([3, ['opened', 'probe failed', 'probe failed', 'probe failed']]);

    probe = refuses;
    await later(1_000);
    expect([breaker.isClosed, said.at(-1)]).toEqual([true, 'closed']);
  });

  it('neither opens nor probes after its end', async () => {
    await run(isCut);
    breaker.end();
    await later(5_000);
    expect(probed).toEqual([]);
  });
});
