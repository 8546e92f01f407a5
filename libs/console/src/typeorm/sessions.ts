import { Injectable } from '@nestjs/common';
import { workspaceId as toWorkspaceId } from '#libs/kernel';
import { Database, READ_PATIENCE_MS, bind, prepared } from '#libs/platform/database';
import type { Account, Membership, Role } from '../domain/person';
import type { SignedIn } from '../domain/signed-in';
import { ConsoleSessionRow, IS_ALIVE } from './console-session.row';
import { People } from './people';
import { PersonRow } from './person.row';
import { type WorkspaceSecret, digestOf, readSecret, textOf } from './workspace-secret';

/** Also says when a session was used, at most once a minute. */
const FIND = prepared(
  'console_session_find',
  `WITH live AS (
     SELECT person_id, used_at FROM console_session
      WHERE workspace_id = $1 AND digest = decode($2, 'hex') AND ${IS_ALIVE}),
   touched AS (
     UPDATE console_session SET used_at = now()
      WHERE workspace_id = $1 AND digest = decode($2, 'hex')
        AND EXISTS (SELECT FROM live WHERE live.used_at < now() - interval '1 minute'))
   SELECT person.id, person.name, person.role, workspace.name
     FROM live JOIN person ON person.workspace_id = $1 AND person.id = live.person_id
               JOIN workspace ON workspace.id = $1
    WHERE person.removed_at IS NULL`,
);
const MEMBERSHIPS = prepared(
  'console_memberships',
  'SELECT workspace_id, person_id FROM console_memberships($1, $2, $3)',
);
const NAME = prepared('console_workspace_name', 'SELECT name FROM workspace WHERE id = $1');
/** Of several moves at once, one finds the session. */
const TAKE = 'DELETE FROM console_session WHERE workspace_id = $1 AND digest = $2 RETURNING created_at';

/** Sessions of browsers. The cookie holds a workspace and a secret, the database a digest of the secret. */
@Injectable()
export class Sessions {
  constructor(
    private readonly database: Database,
    private readonly people: People,
  ) {}

  /** The people whom an account opens, at most one in each workspace. */
  async memberships({ issuer, subject, verifiedEmail }: Account): Promise<Membership[]> {
    const find = bind(MEMBERSHIPS, [issuer, subject, verifiedEmail]);
    const [rows = []] = await this.database.run({ outsideTenants: true }, [find], { patienceMs: READ_PATIENCE_MS });
    return (rows as [string, string][]).map(([id, personId]) => ({ workspaceId: toWorkspaceId(id), personId }));
  }

  /** Reads session, person and role in one statement. Returns null when any of them is gone or over. */
  async find(cookie: string, requestId: string): Promise<SignedIn | null> {
    const read = readSecret(cookie);
    if (!read) return null;
    const { workspaceId, secret } = read;
    const find = bind(FIND, [workspaceId, digestOf(secret).toString('hex')]);
    const [[row] = []] = await this.database.run({ workspaceId }, [find], { patienceMs: READ_PATIENCE_MS });
    if (!row) return null;
    const [personId, personName, role, workspaceName] = row as [string, string, Role, string];
    return { workspaceId, workspaceName, personId, personName, role, secret, requestId };
  }

  async end({ workspaceId, secret }: WorkspaceSecret): Promise<void> {
    await this.database.inTenant({ workspaceId }, (manager) =>
      manager.delete(ConsoleSessionRow, { workspace_id: workspaceId, digest: digestOf(secret) }),
    );
  }

  /** The workspaces that the person may switch to, with their names. */
  async workspacesOf({ workspaceId, personId }: SignedIn): Promise<(Membership & { readonly name: string })[]> {
    const person = { workspace_id: workspaceId, id: personId };
    const found = await this.database.inTenant({ workspaceId }, (manager) => manager.findOneBy(PersonRow, person));
    const { issuer, subject, email } = found ?? { issuer: null, subject: null, email: null };
    // A person who came by a link has no account yet. The operator who made the link vouches for the address.
    const account = { issuer: issuer ?? '', subject: subject ?? '', verifiedEmail: issuer ? null : email };
    const memberships = await this.memberships(account);
    const named = [];
    // One after another: there may be hundreds, and others need connections.
    for (const one of memberships) {
      const [rows] = await this.database.read(one, [bind(NAME, [one.workspaceId])]);
      named.push({ ...one, name: rows?.[0]?.[0] ?? '' });
    }
    return named;
  }

  /**
   * Moves the session to another workspace of the person, which counts as a sign-in there. It keeps its age, and its secret:
   * after a way back, a form that is sent again still makes nothing. Returns the new cookie, or null where the session is
   * gone. Where the person was removed there, the session ends.
   */
  async move(from: SignedIn, to: Membership): Promise<string | null> {
    const digest = digestOf(from.secret);
    const [[session]] = await this.database.inTenant(from, (manager) =>
      manager.query<[Pick<ConsoleSessionRow, 'created_at'>[], number]>(TAKE, [from.workspaceId, digest]),
    );
    if (!session) return null;
    const isMoved = await this.database.inTenant(to, (manager) =>
      this.people.signIn(manager, { ...to, requestId: from.requestId }, { digest, ...session }),
    );
    return isMoved ? textOf({ workspaceId: to.workspaceId, secret: from.secret }) : null;
  }
}
