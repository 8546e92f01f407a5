import { type BoundStatement, type Statement, type TextRow, bind } from '../../database/pipelined-statements';
import { IdempotencyConflict } from '../idempotency-errors';
import type { IdempotentResponse, IdempotentRequest } from '../idempotent-response';

/** SQL condition on a record's key. {@link boundToKey} supplies its first values. */
export const OF_KEY = `workspace_id = $1 AND application_id = $2 AND key_hash = decode($3, 'hex')`;

/** The columns that {@link responseOf} reads. */
export const RESPONSE_COLUMNS = `encode(fingerprint, 'hex'), expires_at > now(), status, body, entity_tag`;

export function boundToKey(
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
export function responseOf(row: TextRow | undefined, request: IdempotentRequest): IdempotentResponse | null {
  if (row?.[1] !== 't') return null;
  if (row[0] !== request.fingerprint) throw new IdempotencyConflict();
  return { status: Number(row[2]), body: row[3] as string, entityTag: row[4] ?? null };
}
