import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings';
import { Database } from '../database/database';
import type { BoundStatement, Statement, TextRow } from '../database/pipelined-statements';
import { IdempotencyConflict } from './idempotency-errors';
import type { IdempotentAnswer, IdempotentRequest } from './idempotent-answer';

const TRY_LOCK: Statement = {
  name: 'idempotency_try_lock_1',
  text: 'SELECT pg_try_advisory_xact_lock($1::bigint)',
};

const FIND: Statement = {
  name: 'idempotency_find_1',
  text: `
    SELECT encode(fingerprint, 'hex'), expires_at > now(), status, body, entity_tag FROM idempotency_record
     WHERE workspace_id = $1 AND application_id = $2 AND key_hash = decode($3, 'hex')`,
};

const DELETE_DEAD: Statement = {
  name: 'idempotency_delete_dead_1',
  text: `
    DELETE FROM idempotency_record
     WHERE workspace_id = $1 AND application_id = $2 AND key_hash = decode($3, 'hex') AND expires_at <= now()`,
};

const INSERT: Statement = {
  name: 'idempotency_insert_1',
  text: `
    INSERT INTO idempotency_record
           (workspace_id, application_id, key_hash, fingerprint, status, body, entity_tag, expires_at)
    VALUES ($1, $2, decode($3, 'hex'), decode($4, 'hex'), $5::smallint, $6, $7,
            now() + make_interval(secs => $8::double precision))`,
};

/** What the first look at a key finds: the answer to replay, the right to go on, or somebody else who is at it. */
export type KeyState =
  { readonly kind: 'answered'; readonly answer: IdempotentAnswer } | { readonly kind: 'free' | 'busy' };

/** The truth about keys: rows in Postgres, written in the transactions of the changes that they answer for. */
@Injectable()
export class IdempotencyRecords {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /**
   * Within a unit of work: takes the key for the rest of the transaction unless another one has it, without waiting.
   * A record that is there is found whoever holds the key. Throws `idempotency_conflict` when it is of another request.
   */
  async claim(request: IdempotentRequest): Promise<KeyState> {
    const lock: BoundStatement = { ...TRY_LOCK, values: [lockNumber(request)] };
    const [locked = [], found = []] = await this.database.run(request, [lock, bound(FIND, request)]);
    const answer = answerOf(found, request);
    if (answer) return { kind: 'answered', answer };
    if (locked[0]?.[0] !== 't') return { kind: 'busy' };
    if (found.length > 0) await this.database.write(request, [bound(DELETE_DEAD, request)]);
    return { kind: 'free' };
  }

  /** The answer to replay, null when there is none. Throws `idempotency_conflict`. */
  async find(request: IdempotentRequest): Promise<IdempotentAnswer | null> {
    const [found = []] = await this.database.run(request, [bound(FIND, request)]);
    return answerOf(found, request);
  }

  /** Within the unit of work that holds the key: the record commits with the change or not at all. */
  async insert(request: IdempotentRequest, { status, body, entityTag }: IdempotentAnswer): Promise<void> {
    const further = [request.fingerprint, String(status), body, entityTag, String(this.settings.idempotencyTtlSeconds)];
    await this.database.write(request, [bound(INSERT, request, further)]);
  }
}

function bound(
  statement: Statement,
  { workspaceId, applicationId, keyHash }: IdempotentRequest,
  further: readonly (string | null)[] = [],
): BoundStatement {
  return { ...statement, values: [workspaceId, applicationId, keyHash, ...further] };
}

/** A record whose time has passed is dead, whether or not it was removed. */
function answerOf([row]: readonly TextRow[], request: IdempotentRequest): IdempotentAnswer | null {
  if (row?.[1] !== 't') return null;
  if (row[0] !== request.fingerprint) throw new IdempotencyConflict();
  return { status: Number(row[2]), body: row[3] as string, entityTag: row[4] ?? null };
}

/** The number under which Postgres locks the key: 64 bits of a hash over all that makes it one. */
function lockNumber({ workspaceId, applicationId, keyHash }: IdempotentRequest): string {
  const digest = hash('sha256', `idempotency\n${workspaceId}\n${applicationId}\n${keyHash}`);
  return BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`)).toString();
}
