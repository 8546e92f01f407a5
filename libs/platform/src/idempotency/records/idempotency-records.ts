import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings';
import { Database } from '../../database/database';
import type { Statement } from '../../database/pipelined-statements';
import type { IdempotentAnswer, IdempotentRequest } from '../idempotent-answer';
import { type KeyClaim } from '../key-claim';
import { ANSWER_COLUMNS, OF_KEY, answerOf, boundToKey } from './key-record';

const FIND: Statement = {
  name: 'idempotency_find_1',
  text: `SELECT ${ANSWER_COLUMNS} FROM idempotency_record WHERE ${OF_KEY}`,
};

const DELETE_DEAD: Statement = {
  name: 'idempotency_delete_dead_1',
  text: `DELETE FROM idempotency_record WHERE ${OF_KEY} AND expires_at <= now()`,
};

/** Lives from now on, just before the COMMIT, and not from when a transaction began that may have waited since. */
const INSERT: Statement = {
  name: 'idempotency_insert_2',
  text: `
    INSERT INTO idempotency_record
           (workspace_id, application_id, key_hash, fingerprint, status, body, entity_tag, expires_at)
    VALUES ($1, $2, decode($3, 'hex'), decode($4, 'hex'), $5::smallint, $6, $7,
            clock_timestamp() + make_interval(secs => $8::double precision))`,
};

/** The truth about keys: rows in Postgres, written in the transactions of the changes that they answer for. */
@Injectable()
export class IdempotencyRecords {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /**
   * The answer to replay, null when there is none; outside a unit of work, and like any read in spite of one lost
   * connection. Throws `idempotency_conflict`.
   */
  async find(request: IdempotentRequest): Promise<IdempotentAnswer | null> {
    const [[row] = []] = await this.database.read(request, [boundToKey(FIND, request)], 'newest');
    return answerOf(row, request);
  }

  /** Within the unit of work that the claim let in: the record commits with the change or not at all. */
  async insert(claim: KeyClaim, { status, body, entityTag }: IdempotentAnswer): Promise<void> {
    const { request } = claim;
    const further = [request.fingerprint, String(status), body, entityTag, String(this.settings.idempotencyTtlSeconds)];
    const cleared = claim.mayReplaceDead ? [boundToKey(DELETE_DEAD, request)] : [];
    await this.database.write(request, [...cleared, boundToKey(INSERT, request, further)]);
  }
}
