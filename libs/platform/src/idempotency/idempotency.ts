import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Tally } from '../observability/tally';
import { Database } from '../database/database';
import { KeyQueue } from '../database/key-queue';
import {
  IdempotencyConflict,
  IdempotencyInProgress,
  type IdempotentRequest,
  type IdempotentResponse,
} from './idempotent-request';
import { IdempotencyRecords, KeyClaim, KeyTaken } from './records/idempotency-records';
import { KeyLease } from './key-lease';

/** Maximum wait for a concurrent request with the same key. */
const PATIENCE_MS = 5_000;

export interface IdempotentOutcome {
  readonly response: IdempotentResponse;
  /** True for a stored response: nothing was done now. */
  readonly replayed: boolean;
}

/** A request that has its response. */
interface Answered {
  readonly fingerprint: string;
  readonly response: IdempotentResponse;
}

/**
 * Runs each write at most once per key and always returns the same response.
 * Duplicates within one instance queue up, so only one of them at a time reaches Postgres, and those that wait get its
 * response. In Postgres a lock that nobody waits for decides. While another instance holds the lock, instances poll: the
 * holder of a lease in Redis often, the others rarely. Queue and lease only save load; losing them changes nothing else.
 */
@Injectable()
export class Idempotency {
  /** Failed requests are not counted: their keys stay unused. */
  readonly outcomes = new Tally(['first', 'replay', 'conflict', 'in_progress']);
  private readonly queue = new KeyQueue<Answered>();

  constructor(
    private readonly database: Database,
    private readonly records: IdempotencyRecords,
    private readonly lease: KeyLease,
  ) {}

  /**
   * Runs `work` in one unit of work together with the record of its response. If the key already has a response,
   * returns that and rolls back whatever `work` did. A failure of `work` leaves no trace, and the key stays usable.
   * `waitedMs` counts towards the maximum wait.
   * @throws `idempotency_conflict` when the key belongs to another request
   * @throws `idempotency_in_progress` when the first request is still running after five seconds
   */
  async respond(
    request: IdempotentRequest,
    work: () => Promise<IdempotentResponse>,
    waitedMs = 0,
  ): Promise<IdempotentOutcome> {
    try {
      const outcome = await this.respondOnce(request, work, performance.now() + PATIENCE_MS - waitedMs);
      this.outcomes.add(outcome.replayed ? 'replay' : 'first');
      return outcome;
    } catch (error) {
      if (error instanceof IdempotencyConflict) this.outcomes.add('conflict');
      if (error instanceof IdempotencyInProgress) this.outcomes.add('in_progress');
      throw error;
    }
  }

  private async respondOnce(
    request: IdempotentRequest,
    work: () => Promise<IdempotentResponse>,
    deadline: number,
  ): Promise<IdempotentOutcome> {
    const key = `${request.workspaceId} ${request.applicationId} ${request.keyHash}`;
    const admission = await this.queue.enter(key, Math.max(0, deadline - performance.now()));
    if (!admission) throw new IdempotencyInProgress();
    if (admission.kind === 'result') return replayOf(admission.result, request);
    let answered: Answered | null = null;
    try {
      const outcome = await this.runInTurn(request, work, deadline);
      answered = { fingerprint: request.fingerprint, response: outcome.response };
      return outcome;
    } finally {
      admission.end(answered);
    }
  }

  /** Runs alone within this instance. */
  private async runInTurn(
    request: IdempotentRequest,
    work: () => Promise<IdempotentResponse>,
    deadline: number,
  ): Promise<IdempotentOutcome> {
    let release: (() => void) | null = null;
    try {
      for (;;) {
        const outcome = await this.attempt(request, work, deadline);
        if (outcome) return outcome;
        if (performance.now() >= deadline) throw new IdempotencyInProgress();
        // Duplicates across instances are rare, so Redis is asked only now.
        release ??= await this.lease.take(request);
        await delay(Math.min((release ? 10 : 150) + Math.random() * 30, Math.max(0, deadline - performance.now())));
      }
    } finally {
      release?.();
    }
  }

  /** Returns null when another transaction holds the key. The connection is released before any wait. */
  private async attempt(
    request: IdempotentRequest,
    work: () => Promise<IdempotentResponse>,
    deadline: number,
  ): Promise<IdempotentOutcome | null> {
    const claim = new KeyClaim(request);
    const unit = async (): Promise<IdempotentOutcome> => {
      const response = await work();
      await this.records.insert(claim, response);
      return { response, replayed: false };
    };
    try {
      return await this.database.unitOfWork(request, unit, { gate: claim, deadline });
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      const { isLong } = error;
      const response = isLong ? await this.records.find(request, deadline - performance.now()) : error.response;
      return response && { response, replayed: true };
    }
  }
}

function replayOf({ fingerprint, response }: Answered, request: IdempotentRequest): IdempotentOutcome {
  if (fingerprint !== request.fingerprint) throw new IdempotencyConflict();
  return { response, replayed: true };
}
