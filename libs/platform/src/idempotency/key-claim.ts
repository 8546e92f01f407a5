import { hash } from 'node:crypto';
import { type BoundStatement, type TextRow, bind, prepared } from '../database/pipelined-statements';
import { type Gate, GateClosed } from '../database/unit-of-work';
import type { IdempotentResponse, IdempotentRequest } from './idempotent-response';
import { RESPONSE_COLUMNS, OF_KEY, responseOf, boundToKey } from './records/key-record';

const TRY_LOCK = prepared(
  'idempotency_try_lock',
  `SELECT set_config('app.key_is_ours', pg_try_advisory_xact_lock($1::bigint)::text, true)`,
);

/** A separate statement after {@link TRY_LOCK}: only a later snapshot sees the last holder's commit. */
const CLAIM = prepared(
  'idempotency_claim',
  `
    SELECT ${RESPONSE_COLUMNS}, ours,
           set_config('app.gate_closed', (NOT ours OR coalesce(expires_at > now(), false))::text, true)
      FROM (SELECT current_setting('app.key_is_ours')::boolean) AS key (ours)
      LEFT JOIN idempotency_record ON ${OF_KEY}`,
);

/** The key has a response, or, without one, another transaction holds it. */
export class KeyTaken extends GateClosed {
  constructor(readonly response: IdempotentResponse | null) {
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
    if (response || claimed?.[5] !== 't') throw new KeyTaken(response);
    this.foundNone = claimed[0] === null;
  }

  /** Tells whether an expired record may exist that the new one must replace. */
  get mayReplaceDead(): boolean {
    return !this.foundNone;
  }
}

/** The advisory lock number of the key: 64 bits of a hash over workspace, application and key. */
function lockNumber({ workspaceId, applicationId, keyHash }: IdempotentRequest): string {
  const digest = hash('sha256', `idempotency\n${workspaceId}\n${applicationId}\n${keyHash}`);
  return BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`)).toString();
}
