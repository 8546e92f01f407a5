import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings';
import { Database } from '../../database/database';
import { type BoundStatement, type Statement, type TextRow, bind, prepared } from '../../database/pipelined-statements';
import { type Gate, GateClosed } from '../../database/unit-of-work';
import { IdempotencyConflict, type IdempotentRequest, type IdempotentResponse } from '../idempotent-request';

/** SQL condition on a record's key. {@link boundToKey} supplies its first values. */
const OF_KEY = `workspace_id = $1 AND application_id = $2 AND key_hash = decode($3, 'hex')`;

/** The columns that {@link responseOf} reads. */
const responseColumns = (body: string): string =>
  `encode(fingerprint, 'hex'), expires_at > now(), status, ${body}, entity_tag`;
/** A claim leaves out longer bodies: several of them at once would fill the memory. */
const LONG_BODY = 250_000;

const TRY_LOCK = prepared(
  'idempotency_try_lock',
  `SELECT set_config('app.key_is_ours', pg_try_advisory_xact_lock($1::bigint)::text, true)`,
);

/** A separate statement after {@link TRY_LOCK}: only a later snapshot sees the last holder's commit. */
const CLAIM = prepared(
  'idempotency_claim',
  `
    SELECT ${responseColumns(`CASE WHEN octet_length(body) <= ${LONG_BODY} THEN body END`)}, ours,
           set_config('app.gate_closed', (NOT ours OR coalesce(expires_at > now(), false))::text, true)
      FROM (SELECT current_setting('app.key_is_ours')::boolean) AS key (ours)
      LEFT JOIN idempotency_record ON ${OF_KEY}`,
);

const FIND = prepared('idempotency_find', `SELECT ${responseColumns('body')} FROM idempotency_record WHERE ${OF_KEY}`);

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

/** The key has a response, or, without one, another transaction holds it. */
export class KeyTaken extends GateClosed {
  /** `isLong`: the response lacks its body, which {@link IdempotencyRecords.find} reads. */
  constructor(
    readonly response: IdempotentResponse | null,
    readonly isLong = false,
  ) {
    super('The key is taken.');
  }
}

/**
 * The gate of an idempotent write. Locks the key until the transaction ends and never waits for another holder. Finds
 * an existing record whoever holds the lock. Closes with {@link KeyTaken}, or with `idempotency_conflict` when the
 * record belongs to another request.
 */
export class KeyClaim implements Gate {
  readonly statements: readonly BoundStatement[];
  private foundNone = false;

  constructor(readonly request: IdempotentRequest) {
    this.statements = [bind(TRY_LOCK, [lockNumber(request)]), boundToKey(CLAIM, request)];
  }

  judge([, rows]: readonly TextRow[][]): void {
    const claimed = rows?.[0];
    const response = responseOf(claimed, this.request);
    if (response || claimed?.[5] !== 't') throw new KeyTaken(response, response !== null && claimed?.[3] == null);
    this.foundNone = claimed[0] === null;
  }

  /** Tells whether an expired record may exist that the new one must replace. */
  get mayReplaceDead(): boolean {
    return !this.foundNone;
  }
}

/** Stores the records of idempotency keys in Postgres, in the transaction of the write they belong to. */
@Injectable()
export class IdempotencyRecords {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /**
   * Reads a response outside of units of work, where long results arrive one after the other. Null when it has expired.
   * @throws `idempotency_conflict` when the record belongs to another request
   */
  async find(request: IdempotentRequest, patienceMs: number): Promise<IdempotentResponse | null> {
    const [[row] = []] = await this.database.run(request, [boundToKey(FIND, request)], { patienceMs });
    return responseOf(row, request);
  }

  /** Runs in the unit of work of the claim: the record commits with the change or not at all. */
  async insert(claim: KeyClaim, { status, body, entityTag }: IdempotentResponse): Promise<void> {
    const { request } = claim;
    const further = [request.fingerprint, String(status), body, entityTag, String(this.settings.idempotencyTtlSeconds)];
    const cleared = claim.mayReplaceDead ? [boundToKey(DELETE_DEAD, request)] : [];
    await this.database.write(request, [...cleared, boundToKey(INSERT, request, further)]);
  }
}

function boundToKey(
  statement: Statement,
  { workspaceId, applicationId, keyHash }: IdempotentRequest,
  further: readonly (string | null)[] = [],
): BoundStatement {
  return bind(statement, [workspaceId, applicationId, keyHash, ...further]);
}

/**
 * Returns the response to replay, or null without a live record. An expired record counts as absent even before it is
 * purged.
 * @throws `idempotency_conflict` when the record belongs to another request
 */
function responseOf(row: TextRow | undefined, request: IdempotentRequest): IdempotentResponse | null {
  if (row?.[1] !== 't') return null;
  if (row[0] !== request.fingerprint) throw new IdempotencyConflict();
  return { status: Number(row[2]), body: row[3] as string, entityTag: row[4] ?? null };
}

/** The advisory lock number of the key: 64 bits of a hash over workspace, application and key. */
function lockNumber({ workspaceId, applicationId, keyHash }: IdempotentRequest): string {
  const digest = hash('sha256', `idempotency\n${workspaceId}\n${applicationId}\n${keyHash}`);
  return BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`)).toString();
}
