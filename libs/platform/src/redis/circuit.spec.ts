import { setTimeout as delay } from 'node:timers/promises';
import { ReplyError } from 'ioredis';
import { Circuit, RedisAway } from './circuit';

const never = (): Promise<never> => new Promise(() => undefined);
const answers = async (): Promise<string> => 'OK';
const isCut = async (): Promise<never> => {
  throw new Error('Connection is closed.');
};
const refuses = async (): Promise<never> => {
  throw new (ReplyError as new (message: string) => Error)('WRONGTYPE');
};

describe('A circuit', () => {
  let time: number;
  let said: string[];
  let circuit: Circuit;
  let sent: number;
  const run = (command: () => Promise<string>): Promise<string> => {
    const counted = (): Promise<string> => {
      sent += 1;
      return command();
    };
    return circuit.run(counted).catch((error: unknown) => (error instanceof RedisAway ? 'away' : 'refused'));
  };
  beforeEach(() => {
    [time, said, sent] = [0, [], 0];
    const watcher = {
      opened: () => void said.push('opened'),
      closed: () => void said.push('closed'),
      unansweredAgain: () => void said.push('unanswered again'),
    };
    circuit = new Circuit(watcher, () => time);
  });

  it('lets nothing pass for a second after a failure, then one command, and all of them once that one is answered', async () => {
    expect(await run(answers)).toBe('OK');
    expect(await run(isCut)).toBe('away');
    time = 999;
    expect([await run(answers), sent, circuit.isOpen]).toEqual(['away', 2, true]);
    time = 1_000;
    expect([await run(answers), circuit.isOpen]).toEqual(['OK', false]);
    expect([await run(answers), sent]).toEqual(['OK', 4]);
    expect(said).toEqual(['opened', 'closed']);
  });

  it('rests for another second when the probe fails, and says nothing new', async () => {
    await run(isCut);
    for (const later of [1_000, 2_000, 3_000]) {
      time = later;
      expect([await run(isCut), await run(answers)]).toEqual(['away', 'away']);
    }
    expect([sent, said]).toEqual([4, ['opened']]);
  });

  it('probes with one command at a time, and answers all others at once', async () => {
    await run(isCut);
    time = 1_000;
    let probing = true;
    const probe = run(never).finally(() => (probing = false));
    const others = await Promise.all(Array.from({ length: 49 }, () => run(answers)));
    expect(probing).toBe(true);
    expect(new Set(others)).toEqual(new Set(['away']));
    expect([await probe, sent]).toEqual(['away', 2]);
    expect(said).toEqual(['opened', 'unanswered again']);
  });

  it('answers everybody who waits as soon as the first has waited long enough', async () => {
    const first = run(never);
    await delay(35);
    const second = run(never);
    expect([await first, said]).toEqual(['away', ['opened']]);
    expect(await Promise.race([second, new Promise((resolve) => setImmediate(resolve, 'waits on'))])).toBe('away');
  });

  it('waits from the end of the turn in which a command was asked for: until then it has not left', async () => {
    const soon = (): Promise<string> =>
      new Promise((resolve) => setImmediate(() => setTimeout(() => resolve('OK'), 10)));
    const asked = run(soon);
    for (const busyUntil = performance.now() + 80; performance.now() < busyUntil;);
    expect([await asked, said]).toEqual(['OK', []]);
  });

  it('passes on what Redis says against a command, and stays closed; said to the probe, it closes', async () => {
    expect([await run(refuses), await run(answers), said]).toEqual(['refused', 'OK', []]);
    await run(isCut);
    time = 1_000;
    expect([await run(refuses), circuit.isOpen, said]).toEqual(['refused', false, ['opened', 'closed']]);
  });

  it('probes again after a probe that could not even be sent', async () => {
    await run(isCut);
    time = 1_000;
    const broken = (): Promise<string> => {
      throw new Error('Not sent');
    };
    expect(await run(broken)).toBe('away');
    time = 2_000;
    expect(await run(answers)).toBe('OK');
  });
});
