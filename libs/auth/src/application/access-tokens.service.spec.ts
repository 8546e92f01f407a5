import { type Charge, applicationId, workspaceId } from '#libs/kernel';
import { FakeClock } from '../../../kernel/src/clock.fake';
import type { ApplicationRepository, GenerationOutcome } from '../domain/application-repository.port';
import type { AccessTokenSigner } from '../domain/access-token-signer.port';
import type { Application } from '../domain/application';
import type { ClientSecrets } from '../domain/client-secrets.port';
import type { GrantCopies } from '../domain/grant-copies.port';
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
  private readonly waiting: ((outcome: GenerationOutcome) => void)[] = [];

  findWithSecrets(): Promise<object> {
    return Promise.resolve({ application: APPLICATION, secretDigests: [Buffer.alloc(32)] });
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
    { chargeRemembered, chargeClient: () => Promise.resolve(ALLOWED) } as unknown as TokenRequestLimiter,
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

  it('begins a higher generation than the one before, which may come later, though the clock was set back', async () => {
    const [applications, clock] = [new SlowApplications(), new FakeClock()];
    const service = aService(applications, () => Promise.resolve(REMEMBERED), clock);
    const request = service.issue('ci_1', 'secret', 'somewhere', null);
    await jest.advanceTimersByTimeAsync(0);
    clock.advance(-60_000);
    applications.answerFirst('refused');
    await jest.advanceTimersByTimeAsync(0);
    applications.answerFirst();
    await request;
    const [first = 0n, second = 0n] = applications.generations;
    expect(applications.generations).toHaveLength(2);
    expect(second).toBeGreaterThan(first);
  });
});
