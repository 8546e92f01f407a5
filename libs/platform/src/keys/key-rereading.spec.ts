import { Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { type KeyReading, KeyRereading } from './key-rereading';

describe('KeyRereading', () => {
  const warnings: unknown[] = [];
  const lines: unknown[] = [];
  let reading: KeyReading;
  let rounds: number;
  let worker: KeyRereading;

  beforeEach(async () => {
    warnings.length = lines.length = rounds = 0;
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line) => void warnings.push(line));
    jest.spyOn(Logger, 'log').mockImplementation((line) => void lines.push(line));
    reading = { kids: ['old'], faults: [] };
    const keys = { reread: () => Promise.resolve(((rounds += 1), reading)) };
    worker = new KeyRereading('signing', keys, 1);
    await worker.onApplicationBootstrap();
  });
  afterEach(async () => {
    await worker.beforeApplicationShutdown();
    jest.restoreAllMocks();
  });

  const afterRounds = async (count: number) => {
    for (const until = rounds + count; rounds < until;) await delay(1);
  };

  it('logs once that keys were loaded, and nothing at the start', async () => {
    await afterRounds(3);
    expect(lines).toEqual([]);
    reading = { kids: ['new', 'old'], faults: [] };
    await afterRounds(3);
    expect(lines).toEqual([{ message: 'took up keys', use: 'signing', kids: ['new', 'old'] }]);
  });

  it('logs a fault once, and again when it returns', async () => {
    const fault = 'SIGNING_KEYS_DIR cannot be read (EIO).';
    reading = { kids: ['old'], faults: [fault] };
    await afterRounds(5);
    expect(warnings).toEqual([fault]);
    reading = { kids: ['old'], faults: [] };
    await afterRounds(3);
    reading = { kids: ['old'], faults: [fault] };
    await afterRounds(3);
    expect(warnings).toEqual([fault, fault]);
  });

  it('has not succeeded while a file is unreadable', async () => {
    reading = { kids: ['old'], faults: ['SIGNING_KEYS_DIR cannot be read (EIO).'] };
    await afterRounds(2);
    const { succeededAt } = worker;
    await delay(2);
    await afterRounds(2);
    expect(worker.succeededAt).toBe(succeededAt);
    reading = { kids: ['old'], faults: [] };
    await afterRounds(2);
    expect(worker.succeededAt).toBeGreaterThan(succeededAt);
  });

  it('lets the process end while a disk hangs, and logs nothing any more', async () => {
    await worker.beforeApplicationShutdown();
    const ends: ((found: KeyReading) => void)[] = [];
    const late = new KeyRereading('signing', { reread: () => new Promise((resolve) => ends.push(resolve)) }, 1);
    const started = late.onApplicationBootstrap();
    ends[0]?.(reading);
    await started;
    while (ends.length < 2) await delay(1);

    await late.beforeApplicationShutdown();
    ends[1]?.({ kids: ['new'], faults: ['SIGNING_KEYS_DIR cannot be read (EIO).'] });

    await delay(10);
    expect([warnings, lines]).toEqual([[], []]);
  });

  it('ends with the process', async () => {
    await worker.beforeApplicationShutdown();
    await delay(10);
    const before = rounds;
    await delay(20);
    expect(rounds).toBe(before);
  });
});
