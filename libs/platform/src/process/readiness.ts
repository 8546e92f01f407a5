import type { RedisClient } from '../redis';
import type { SchemaPart } from '../database';

/** After this time without a check the last result counts as unknown. */
const KNOWN_MS = 60_000;

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

export interface ReadinessSources {
  /** Names of the applied migrations. @throws when Postgres does not respond */
  readonly appliedMigrations: () => Promise<readonly string[]>;
  readonly schema: readonly SchemaPart[];
  readonly redis: Pick<RedisClient, 'ping' | 'state'>;
  readonly isStopping: () => boolean;
  /** Called when readiness changes, with the checks and the error of Postgres. */
  readonly onChange: (readiness: Readiness, error: unknown) => void;
}

/** Tells whether this instance should get requests: Postgres responds, and the schema fits this release. */
export class ReadinessWatch {
  private readonly known: readonly string[];
  private checking: Promise<Readiness> | null = null;
  private last: { readonly ready: boolean; readonly at: number } | null = null;

  constructor(private readonly sources: ReadinessSources) {
    this.known = sources.schema.flatMap((part) => part.migrations.map((migration) => migration.name));
  }

  /** The last result: 1 for ready, 0 for not ready. Null without a check in the last minute. */
  get lastResult(): number | null {
    return this.last && performance.now() - this.last.at < KNOWN_MS ? Number(this.last.ready) : null;
  }

  /** Concurrent callers share one check of Postgres and Redis. */
  check(): Promise<Readiness> {
    this.checking ??= this.checkNow().finally(() => (this.checking = null));
    return this.checking;
  }

  private async checkNow(): Promise<Readiness> {
    const { redis, isStopping, onChange } = this.sources;
    const checks: Record<string, string> = {};
    let fault: unknown;
    try {
      const applied = new Set(await this.sources.appliedMigrations());
      const missing = this.known.filter((name) => !applied.has(name));
      checks['postgres'] = 'ok';
      checks['migrations'] = missing.length === 0 ? 'ok' : `${missing.length} not applied; run admin migrate`;
    } catch (error) {
      fault = error;
      // 42P01: the table of migrations does not exist yet.
      const reachable = (error as { code?: unknown }).code === '42P01';
      checks['postgres'] = reachable ? 'ok' : 'unreachable';
      checks['migrations'] = reachable ? 'none applied; run admin migrate' : 'unknown';
    }
    await redis.ping();
    checks['redis'] = redis.state;
    checks['process'] = isStopping() ? 'stopping' : 'ok';
    const required = Object.entries(checks).filter(([name]) => name !== 'redis');
    const readiness = { ready: required.every(([, check]) => check === 'ok'), checks };
    // Stopping is logged elsewhere.
    const changed = readiness.ready !== (this.last?.ready ?? true) && !isStopping();
    this.last = { ready: readiness.ready, at: performance.now() };
    if (changed) onChange(readiness, fault);
    return readiness;
  }
}
