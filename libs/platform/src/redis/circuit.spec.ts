import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
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
  let said: string[];
  let circuit: Circuit;
  let sent: number;
  let probed: number;
  let probe: () => Promise<unknown>;
  /** What is to happen when Redis was left alone for long enough. */
  let rests: (() => void)[];
  const run = (command: () => Promise<string>): Promise<string> => {
    const counted = (): Promise<string> => {
      sent += 1;
      return command();
    };
    return circuit.run(counted).catch((error: unknown) => (error instanceof RedisAway ? 'away' : 'refused'));
  };
  /** Lets the rest be over, and what follows from it happen. */
  const rested = async (): Promise<void> => {
    for (const over of rests.splice(0)) over();
    await turn();
  };
  const watcher = {
    opened: () => void said.push('opened'),
    closed: () => void said.push('closed'),
    unansweredAgain: () => void said.push('unanswered again'),
  };
  beforeEach(() => {
    [said, sent, probed, probe, rests] = [[], 0, 0, answers, []];
    const counted = (): Promise<unknown> => {
      probed += 1;
      return probe();
    };
    circuit = new Circuit(watcher, counted, (over) => void rests.push(over));
  });
  afterEach(() => circuit.end());

  it('lets nothing pass after a failure until a probe was answered', async () => {
    expect(await run(answers)).toBe('OK');
    expect(await run(isCut)).toBe('away');
    expect([await run(answers), sent, probed, circuit.isOpen]).toEqual(['away', 2, 0, true]);
    await rested();
    expect([await run(answers), probed, circuit.isOpen]).toEqual(['OK', 1, false]);
    expect([said, rests]).toEqual([['opened', 'closed'], []]);
  });

  it('rests again when the probe fails, and says nothing new', async () => {
    await run(isCut);
    probe = isCut;
    for (const times of [1, 2, 3]) {
      await rested();
      expect([await run(answers), probed, rests.length]).toEqual(['away', times, 1]);
    }
    expect([sent, said]).toEqual([1, ['opened']]);
  });

  it('has nobody wait for the probe, and gives it up like a command', async () => {
    await run(isCut);
    probe = never;
    await rested();
    const others = await Promise.all(Array.from({ length: 50 }, () => run(answers)));
    expect([new Set(others), said, rests]).toEqual([new Set(['away']), ['opened'], []]);
    for (const deadline = Date.now() + 10_000; rests.length === 0 && Date.now() < deadline; await delay(5));
    expect([sent, probed, said, rests.length]).toEqual([1, 1, ['opened', 'unanswered again'], 1]);
  });

  it('rests for a second', async () => {
    circuit = new Circuit(watcher, async () => void (probed = performance.now()));
    const since = performance.now();
    await run(isCut);
    for (const deadline = Date.now() + 10_000; circuit.isOpen && Date.now() < deadline; await delay(5));
    expect(probed - since).toBeGreaterThanOrEqual(999);
    expect(circuit.isOpen).toBe(false);
  });

  it('costs whoever waits sixty milliseconds at most, and two once it is open', async () => {
    const took = async (work: () => Promise<unknown>): Promise<number> => {
      const since = performance.now();
      await work();
      return performance.now() - since;
    };
    const [waits, refusals]: [number[], number[]] = [[], []];
    // What a busy machine adds, it does not add each time.
    for (let n = 0; n < 10; n += 1) {
      waits.push(await took(() => run(never)));
      probe = never;
      await rested();
      refusals.push(await took(() => run(never)));
      circuit.close();
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(49);
    expect(Math.min(...waits)).toBeLessThanOrEqual(60);
    expect(Math.min(...refusals)).toBeLessThanOrEqual(2);
  });

  it('heeds no probe of an outage that is over, and begins none', async () => {
    await run(isCut);
    probe = never;
    await rested();
    circuit.close();
    // As long as a probe is waited for.
    expect(await run(never)).toBe('away');
    expect([said, rests.length]).toEqual([['opened', 'closed', 'opened'], 1]);
    circuit.close();
    await run(isCut);
    await rested();
    expect(probed).toBe(2);
  });

  it('neither opens nor probes after its end, and whoever waits is answered', async () => {
    await run(isCut);
    circuit.end();
    await rested();
    expect([probed, rests]).toEqual([0, []]);
    circuit.close();
    expect([await run(isCut), await run(never), await run(answers)]).toEqual(['away', 'away', 'OK']);
    expect([said, rests]).toEqual([['opened', 'closed'], []]);
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
    probe = refuses;
    await rested();
    expect([circuit.isOpen, said]).toEqual([false, ['opened', 'closed']]);
  });

  it('probes again after a probe that could not even be sent', async () => {
    await run(isCut);
    probe = () => {
      throw new Error('Not sent');
    };
    await rested();
    expect([circuit.isOpen, rests.length]).toEqual([true, 1]);
    probe = answers;
    await rested();
    expect(await run(answers)).toBe('OK');
  });
});
