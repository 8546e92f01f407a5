import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings';
import { Database } from '../../database/database';
import { prepared } from '../../database/pipelined-statements';
import type { IdempotentResponse } from '../idempotent-response';
import { type KeyClaim } from '../key-claim';
import { OF_KEY, boundToKey } from './key-record';

const DELETE_DEAD = prepared(
  'idempotency_delete_dead',
  `DELETE FROM idempotency_record WHERE ${OF_KEY} AND expires_at <= now()`,
);

/** The lifetime starts at the insert, just before COMMIT. The transaction's start may lie far back. */
const INSERT = prepared(
  'idempotency_insert',
  `
    INSERT INTO idempotency_record
           (workspace_id, application_id, key_hash, fingerprint, status, body, entity_tag, expires_at)
    VALUES ($1, $2, decode($3, 'hex'), decode($4, 'hex'), $5::smallint, $6, $7,
            clock_timestamp() + make_interval(secs => $8::double precision))`,
);

/** Stores the records of idempotency keys in Postgres, in the transaction of the write they belong to. */
@Injectable()
export class IdempotencyRecords {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Runs in the unit of work of the claim: the record commits with the change or not at all. */
  async insert(claim: KeyClaim, { status, body, entityTag }: IdempotentResponse): Promise<void> {
    const { request } = claim;
    const further = [request.fingerprint, String(status), body, entityTag, String(this.settings.idempotencyTtlSeconds)];
    const cleared = claim.mayReplaceDead ? [boundToKey(DELETE_DEAD, request)] : [];
    await this.database.write(request, [...cleared, boundToKey(INSERT, request, further)]);
  }
}
