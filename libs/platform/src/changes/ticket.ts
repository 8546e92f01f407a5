import { type ChangeOrigin, type WorkspaceId, personIdIn, personName } from '#libs/kernel';
import { type BoundStatement, type TextRow, bind, prepared } from '../database/pipelined-statements';

const STORED = ['API', 'IMPORT', 'OPERATOR'] as const;

/** The number of an origin in `change_set.origin`. A person has that of an operator: the name tells them apart. */
export const originCode = (type: ChangeOrigin['type']): number =>
  STORED.indexOf(type === 'PERSON' ? 'OPERATOR' : type) + 1;

/** Reads the columns of `change_set`. */
export function originOf(code: Cell, clientId: Cell, requestId: Cell): ChangeOrigin {
  const type = STORED[Number(code) - 1] ?? 'OPERATOR';
  if (type === 'API') return { type, clientId: clientId as string, requestId: requestId as string };
  const personId = type === 'OPERATOR' ? personIdIn(clientId ?? null) : null;
  return personId === null ? { type } : { type: 'PERSON', personId };
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
 * `who` names the operator behind an origin that is neither an application nor a person.
 */
export function takeTicket(workspaceId: WorkspaceId, origin: ChangeOrigin, who: string | null): BoundStatement {
  return bind(TAKE_TICKET, [workspaceId, String(originCode(origin.type)), ...authorOf(origin, who)]);
}

function authorOf(origin: ChangeOrigin, who: string | null): (string | null)[] {
  if (origin.type === 'API') return [origin.clientId, origin.requestId];
  return [origin.type === 'PERSON' ? personName(origin.personId) : who, null];
}
