import { CHANGE_ORIGINS, type ChangeOrigin, type WorkspaceId } from '#libs/kernel';
import { type BoundStatement, type TextRow, bind, prepared } from '../database/pipelined-statements';

/** The number of an origin in `change_set.origin`. */
export const originCode = (type: ChangeOrigin['type']): number => CHANGE_ORIGINS.indexOf(type) + 1;

/** Reads the columns of `change_set`. Null without a set. */
export function originOf(code: Cell, clientId: Cell, requestId: Cell): ChangeOrigin | null {
  if (code == null) return null;
  const type = CHANGE_ORIGINS[Number(code) - 1] ?? 'OPERATOR';
  return type === 'API' ? { type, clientId: clientId as string, requestId: requestId as string } : { type };
}
type Cell = TextRow[number] | undefined;

/** An id for the change set of a transaction. An uncorrelated subquery draws it once for all rows of a statement. */
export const NEW_CHANGE_SET_ID = `(SELECT nextval('change_set_id'))`;

const TAKE_TICKET = prepared(
  'change_take_ticket',
  `SELECT take_change_ticket($1::uuid, currval('change_set_id'), $2::smallint, $3, $4)`,
);

/**
 * Gives the change set whose id the transaction drew last its place behind all committed ones. It must be the last
 * statement before COMMIT, since the writers of a workspace queue here. The lock lasts until the commit is visible, so
 * whoever sees a set sees every set before it.
 *
 * `who` names the operator or person behind an origin that is no application.
 */
export function takeTicket(workspaceId: WorkspaceId, origin: ChangeOrigin, who: string | null): BoundStatement {
  const author = origin.type === 'API' ? [origin.clientId, origin.requestId] : [who, null];
  return bind(TAKE_TICKET, [workspaceId, String(originCode(origin.type)), ...author]);
}
