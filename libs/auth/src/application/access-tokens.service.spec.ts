import { type Charge, applicationId, workspaceId } from '#libs/kernel';
import { FakeClock } from '../../../kernel/src/clock.fake';
import type { ApplicationRepository, GenerationOutcome } from '../domain/application-repository.port';
import type { AccessTokenSigner } from '../domain/access-token-signer.port';
import type { Application } from '../domain/application';
import type { ClientSecrets } from '../domain/client-secrets.port';
import type { GrantCopies } from '../domain/grant-copies.port';
import { TokensContended } from '../domain/token-request-errors';
import type { RememberedClient, TokenRequestLimiter } from '../domain/token-request-limiter.port';
import { AccessTokenLifetime, AccessTokensService } from './access-tokens.service';

const APPLICATION: Application = {
  id: applicationId('0b9e9a0a-6a3e-4b7f-9f2a-1d3c4e5f6a7b'),
  workspaceId: workspaceId('1b9e9a0a-6a3e-4b7f-9f2a-1d3c4e5f6a7b'),
  clientId: 'ci_1',
  name: 'One',
  scopes: ['all:read'],
  limits: {},
  disabled: false,
  generation: 1n,
  issuedAt: null,
  createdAt: new Date(0),
  previousSecretExpiresAt: null,
};
const ALLOWED = { allowed: true } as Charge;
const REMEMBERED: RememberedClient = { grant: APPLICATION, charge: ALLOWED, backAt: 0 };

/** Postgres that answers when it is told to, and the time by which each request wants its answer. */
class SlowApplications {
  readonly deadlines: number[] = [];
  readonly generations: bigint[] = [];
  lookUps = 0;
  private readonly waiting: ((outcome: GenerationOutcome) => void)[] = [];

  constructor(private readonly lookUpMs = 0) {}

  async findWithSecrets(): Promise<object> {
    this.lookUps += 1;
    if (this.lookUpMs > 0) await new Promise((resolve) => setTimeout(resolve, this.lookUpMs));
    return { grant: APPLICATION, secretDigests: [Buffer.alloc(32)] };
  }

  beginGeneration(...[, , generation, deadline]: Parameters<ApplicationRepository['beginGeneration']>) {
    this.generations.push(generation);
    this.deadlines.push(deadline);
    return new Promise<GenerationOutcome>((resolve) => this.waiting.push(resolve));
  }

  answerFirst(kind: 'begun' | 'refused' = 'begun'): void {
    this.waiting.shift()?.({ kind });
  }
}

/** Asks for tokens of one application. */
function aService(
  applications: SlowApplications,
  chargeRemembered: () => Promise<RememberedClient | null>,
  clock = new FakeClock(),
): AccessTokensService {
  return new AccessTokensService(
    applications as unknown as ApplicationRepository,
    { digest: () => Buffer.alloc(32), isOneOf: () => true, newTokenId: () => 'id' } as unknown as ClientSecrets,
    { sign: () => Promise.resolve('token') } as unknown as AccessTokenSigner,
    { forget: () => Promise.resolve() } as unknown as GrantCopies,
    {
      chargeRemembered,
      chargeClient: () => Promise.resolve(ALLOWED),
      giveBack: () => Promise.resolve(),
    } as unknown as TokenRequestLimiter,
    clock,
    new AccessTokenLifetime(60),
  );
}

describe('A token request', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('that waited for others of its application has what is left of five seconds, not as long again', async () => {
    const applications = new SlowApplications();
    const service = aService(applications, () => Promise.resolve(null));
    const issue = (): Promise<unknown> => service.issue('ci_1', 'secret', 'somewhere', null);
    const first = issue();
    await jest.advanceTimersByTimeAsync(1_000);
    const asked = performance.now();
    const second = issue();
    await jest.advanceTimersByTimeAsync(3_500);
    applications.answerFirst();
    await first;
    await jest.advanceTimersByTimeAsync(0);
    applications.answerFirst();
    await second;
    expect(applications.deadlines[1]).toBe(asked + 5_000);
  });

  it.each([
    ['begun', 1],
    ['refused', 0],
  ] as const)('that is %s is told %i times what it was charged', async (outcome, times) => {
    const applications = new SlowApplications();
    const service = aService(applications, () => Promise.resolve(null));
    const charged = jest.fn();
    const request = service.issue('ci_1', 'secret', 'somewhere', null, charged).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(0);
    applications.answerFirst(outcome);
    await request;
    expect(charged).toHaveBeenCalledTimes(times);
  });

  it('is not charged on a guess while it would wait for another one of its client', async () => {
    const applications = new SlowApplications();
    const guess = jest.fn(() => Promise.resolve(null));
    const service = aService(applications, guess);
    const issue = (): Promise<unknown> => service.issue('ci_1', 'secret', 'somewhere', null);
    const requests = [issue(), issue()];
    await jest.advanceTimersByTimeAsync(1_000);
    requests.push(issue());
    await jest.advanceTimersByTimeAsync(1_000);
    expect(guess).toHaveBeenCalledTimes(1);
    for (const _ of requests) {
      applications.answerFirst();
      await jest.advanceTimersByTimeAsync(0);
    }
    await Promise.all(requests);
    const last = issue();
    await jest.advanceTimersByTimeAsync(0);
    applications.answerFirst();
    await last;
    expect(guess).toHaveBeenCalledTimes(2);
  });

  it('whose guess was in vain has what is left of five seconds too', async () => {
    const applications = new SlowApplications();
    const service = aService(applications, () => Promise.resolve(REMEMBERED));
    const request = service.issue('ci_1', 'secret', 'somewhere', null);
    await jest.advanceTimersByTimeAsync(2_000);
    applications.answerFirst('refused');
    await jest.advanceTimersByTimeAsync(0);
    applications.answerFirst();
    await request;
    expect(applications.deadlines).toEqual(Array.from({ length: 2 }, () => applications.deadlines[0]));
  });

  it('begins no token with less than a second left, neither after a guess nor in its turn', async () => {
    const applications = new SlowApplications();
    const guesses = [REMEMBERED, null, null];
    const service = aService(applications, () => Promise.resolve(guesses.shift() ?? null));
    const failed: unknown[] = [];
    const issue = (): Promise<unknown> =>
      service.issue('ci_1', 'secret', 'somewhere', null).catch((error: unknown) => failed.push(error));
    const guessed = issue();
    await jest.advanceTimersByTimeAsync(4_100);
    applications.answerFirst('refused');
    await guessed;
    expect([applications.deadlines.length, applications.lookUps]).toEqual([1, 0]);
    expect(failed).toEqual([expect.any(TokensContended)]);
    const requests = [issue(), issue()];
    await jest.advanceTimersByTimeAsync(3_900);
    applications.answerFirst();
    await jest.advanceTimersByTimeAsync(0);
    // The second one has its turn a moment before it would give up: it is begun, or it fails, with a second at least.
    applications.answerFirst();
    await Promise.all(requests);
    expect(failed).toHaveLength(1);
    const late = issue();
    await jest.advanceTimersByTimeAsync(0);
    const later = issue();
    await jest.advanceTimersByTimeAsync(4_001);
    expect(failed).toHaveLength(2);
    applications.answerFirst();
    await late;
    await later;
    expect([applications.deadlines.length, failed.length]).toEqual([4, 2]);
  });

  it('begins none after a look-up that took nearly all of its time', async () => {
    const applications = new SlowApplications(4_500);
    const request = aService(applications, () => Promise.resolve(null)).issue('ci_1', 'secret', 'somewhere', null);
    const outcome = expect(request).rejects.toThrow(TokensContended);
    await jest.advanceTimersByTimeAsync(4_500);
    await outcome;
    expect(applications.deadlines).toEqual([]);
  });

  it('heals with the clock', async () => {
    const [applications, clock] = [new SlowApplications(), new FakeClock()];
    const service = aService(applications, () => Promise.resolve(null), clock);
    clock.advance(300 * 365 * 86_400_000);
    await expect(service.issue('ci_1', 'secret', 'somewhere', null)).rejects.toThrow('too high');
    clock.advance(-300 * 365 * 86_400_000);
    const request = service.issue('ci_1', 'secret', 'somewhere', null);
    await jest.advanceTimersByTimeAsync(0);
    applications.answerFirst();
    expect(await request).toMatchObject({ token: 'token' });
  });

  it('begins a higher generation than the one before, which may come later, though the clock was set back', async () => {
    const [applications, clock] = [new SlowApplications(), new FakeClock()];
    const service = aService(applications, () => Promise.resolve(REMEMBERED), clock);
    const request = service.issue('ci_1', 'secret', 'somewhere', null);
    await jest.advanceTimersByTimeAsync(0);
    clock.advance(-50_000);
    applications.answerFirst('refused');
    await jest.advanceTimersByTimeAsync(0);
    applications.answerFirst();
    await request;
    const [first = 0n, second = 0n] = applications.generations;
    expect(applications.generations).toHaveLength(2);
    expect(second).toBeGreaterThan(first);
  });
});
