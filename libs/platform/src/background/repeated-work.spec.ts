import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { RepeatedWork } from './repeated-work';

/** Each round lasts until the test ends it. */
class Work extends RepeatedWork {
  readonly ends: ((fault?: Error) => void)[] = [];

  constructor() {
    super(1, 'the work failed');
  }

  protected round(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.ends.push((fault) => (fault ? reject(fault) : resolve()));
    });
  }

  /** Resolves once this many rounds have begun. */
  async begins(count: number): Promise<void> {
    while (this.ends.length < count) await delay(1);
  }
}

describe('Repeated work', () => {
  const warnings: unknown[] = [];
  let work: Work;

  beforeEach(async () => {
    warnings.length = 0;
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line) => void warnings.push(line));
    work = new Work();
    await work.onApplicationBootstrap();
  });
  afterEach(() => jest.restoreAllMocks());

  it('begins a round only after the one before has ended', async () => {
    await work.begins(1);
    await delay(20);
    expect(work.ends).toHaveLength(1);

    work.ends[0]?.();

    await work.begins(2);
  });

  it('logs a failed round and tries again', async () => {
    const error = new Error('Postgres is away.');
    await work.begins(1);

    work.ends[0]?.(error);

    await work.begins(2);
    expect(warnings).toEqual([{ message: 'the work failed', error }]);
  });

  it('knows when a round last succeeded', async () => {
    const start = work.succeededAt;
    await work.begins(1);
    await delay(2);

    work.ends[0]?.(new Error('Postgres is away.'));

    await work.begins(2);
    expect(work.succeededAt).toBe(start);
    await delay(2);

    work.ends[1]?.();

    await work.begins(3);
    expect(work.succeededAt).toBeGreaterThan(start);
  });

  it('waits for its round when the instance stops, warns of no failure, and begins no other one', async () => {
    await work.begins(1);
    let stopped = false;
    const stopping = work.beforeApplicationShutdown().then(() => (stopped = true));
    await delay(20);
    expect(stopped).toBe(false);

    work.ends[0]?.(new Error('The process stops.'));
    await stopping;

    await delay(20);
    expect([work.ends.length, warnings]).toEqual([1, []]);
  });
});
