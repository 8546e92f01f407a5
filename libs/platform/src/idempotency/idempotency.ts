import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { KeyQueue } from './key-queue';
import { Tally } from '../observability/tally';
import { Database } from '../database/database';
import { IdempotencyConflict, IdempotencyInProgress } from './idempotency-errors';
import { IdempotencyRecords } from './records/idempotency-records';
import type { IdempotentAnswer, IdempotentRequest } from './idempotent-answer';
import { KeyClaim, KeyTaken } from './key-claim';
import { KeyLease } from './key-lease';
import { RecentKeys } from './recent-keys';

/** Longest wait for another request with the same key (decisions, section 4). */
const PATIENCE_MS = 5_000;

export interface IdempotentOutcome {
  readonly answer: IdempotentAnswer;
  /** Whether it was given before, and nothing was done now. */
  readonly replayed: boolean;
}

/**
 * Effects at most once, answers always the same. Duplicates within the process queue up, so that one of them at a time
 * comes to Postgres, where a lock that is never waited for decides. Where another replica has the lock, each process looks
 * again and again, one of them often, which a lease in Redis settles, and the others rarely. What a process answered lately
 * it reads at once. Queue, lease and memory only keep work off the database: losing them changes nothing else.
 */
@Injectable()
export class Idempotency {
  /** Of requests whose own work failed nothing is counted: their keys are as if they had never come. */
  readonly outcomes = new Tally(['first', 'replay', 'conflict', 'in_progress']);
  private readonly queue = new KeyQueue();
  private readonly recent = new RecentKeys();
  /** Those that are under way, by key and fingerprint. */
  private readonly reads = new Map<string, Promise<IdempotentAnswer | null>>();

  constructor(
    private readonly database: Database,
    private readonly records: IdempotencyRecords,
    private readonly lease: KeyLease,
  ) {}

  /**
   * Runs `work` in one unit of work together with the record of its answer, unless the key has an answer already: then
   * whatever `work` gave, threw or wrote meanwhile is forgotten. Whatever `work` throws leaves no trace, and the key may
   * be used again. Throws `idempotency_conflict` when the key came with another request and `idempotency_in_progress`
   * when the first is still at it after five seconds, of which the request has waited so many milliseconds already.
   */
  async answer(
    request: IdempotentRequest,
    work: () => Promise<IdempotentAnswer>,
    waitedMs = 0,
  ): Promise<IdempotentOutcome> {
    try {
      const outcome = await this.answerOnce(request, work, performance.now() + PATIENCE_MS - waitedMs);
      this.outcomes.add(outcome.replayed ? 'replay' : 'first');
      return outcome;
    } catch (error) {
      if (error instanceof IdempotencyConflict) this.outcomes.add('conflict');
      if (error instanceof IdempotencyInProgress) this.outcomes.add('in_progress');
      throw error;
    }
  }

  private async answerOnce(
    request: IdempotentRequest,
    work: () => Promise<IdempotentAnswer>,
    deadline: number,
  ): Promise<IdempotentOutcome> {
    const key = `${request.workspaceId} ${request.applicationId} ${request.keyHash}`;
    for (;;) {
      if (this.recent.has(key)) {
        const answer = await this.find(key, request);
        if (answer) return { answer, replayed: true };
        this.recent.forget(key);
      }
      const admission = await this.queue.enter(key, Math.max(0, deadline - performance.now()));
      if (!admission) throw new IdempotencyInProgress();
      if (admission.kind === 'answered') continue;
      let answered = false;
      try {
        const outcome = await this.answerInTurn(request, work, deadline);
        answered = true;
        this.recent.add(key);
        return outcome;
      } finally {
        admission.end(answered);
      }
    }
  }

  /** All who ask for the same at once share one read: as many reads as duplicates would take every connection from others. */
  private find(key: string, request: IdempotentRequest): Promise<IdempotentAnswer | null> {
    const question = `${key} ${request.fingerprint}`;
    let read = this.reads.get(question);
    if (!read) {
      read = this.records.find(request).finally(() => this.reads.delete(question));
      this.reads.set(question, read);
    }
    return read;
  }

  /** Alone in this process. */
  private async answerInTurn(
    request: IdempotentRequest,
    work: () => Promise<IdempotentAnswer>,
    deadline: number,
  ): Promise<IdempotentOutcome> {
    let release: (() => void) | null = null;
    try {
      for (;;) {
        const outcome = await this.attempt(request, work, deadline);
        if (outcome) return outcome;
        if (performance.now() >= deadline) throw new IdempotencyInProgress();
        // Nearly always there is no other, and then Redis is not asked.
        release ??= await this.lease.take(request);
        await delay(Math.min((release ? 10 : 150) + Math.random() * 30, Math.max(0, deadline - performance.now())));
      }
    } finally {
      release?.();
    }
  }

  /** Null when another transaction has the key: the connection is given back before anybody waits. */
  private async attempt(
    request: IdempotentRequest,
    work: () => Promise<IdempotentAnswer>,
    deadline: number,
  ): Promise<IdempotentOutcome | null> {
    const claim = new KeyClaim(request);
    const unit = async (): Promise<IdempotentOutcome> => {
      const answer = await work();
      await this.records.insert(claim, answer);
      return { answer, replayed: false };
    };
    try {
      return await this.database.unitOfWork(request, unit, { gate: claim, deadline });
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      return error.answer && { answer: error.answer, replayed: true };
    }
  }
}
