import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type AuditAct, AuditRecorder, type PersonAuthor } from '#libs/audit/operators';
import { type WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { Any, type EntityManager, IsNull, Raw } from 'typeorm';
import {
  type Account,
  LastAdministrator,
  type Membership,
  NoSuchPerson,
  type Person,
  PersonThere,
  type Role,
} from '../domain/person';
import { ConsoleSessionRow, IS_ALIVE } from './console-session.row';
import { PersonRow } from './person.row';
import { type WorkspaceSecret, digestOf, newSecret, readSecret, textOf } from './workspace-secret';

const LINK_MINUTES = 5;
/** By the clock of the database alone. A link that ends later was made before the clock was set back. */
const LINK_END = `now() + interval '${LINK_MINUTES} minutes'`;
const UNIQUE_VIOLATION = '23505';
/** A to Z are the same in either case. Other letters that look alike are others: the sign of the kelvin is no k. */
const isAddress = (email: string) =>
  Raw((column) => `lower(${column} COLLATE "C") = lower(:email COLLATE "C")`, { email });
const FORGET = `DELETE FROM console_session WHERE workspace_id = $1 AND person_id = $2 AND NOT (${IS_ALIVE})`;
const OLDEST_FIRST = { added_at: 'ASC', id: 'ASC' } as const;

type NewPerson = Record<'email' | 'name', string> &
  Pick<Person, 'role'> &
  Partial<Pick<PersonRow, 'issuer' | 'subject'>>;

/** The people of a workspace. Each change ends in the audit, without names and addresses. */
@Injectable()
export class People {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
  ) {}

  /** The same people, whose changes are acts of this person. */
  asPerson(person: PersonAuthor): People {
    return new People(this.database, this.audit.asPerson(person));
  }

  /**
   * Adds a person, or opens a closed one again. An account binds the person at once, for an issuer that verifies no e-mail
   * addresses. @throws {@link PersonThere}
   */
  async add(workspaceId: WorkspaceId, { issuer = null, subject = null, ...person }: NewPerson): Promise<Person> {
    const given = { ...person, issuer, subject };
    try {
      return await this.database.inTenant({ workspaceId }, async (manager) => {
        const present = { workspace_id: workspaceId, removed_at: IsNull() };
        const where = [
          { ...present, email: isAddress(person.email) },
          ...(issuer && subject ? [{ ...present, issuer, subject }] : []),
        ];
        const found = await manager.findOne(PersonRow, { where, lock: { mode: 'pessimistic_write' } });
        if (found && stateOf(found) !== 'closed') throw new PersonThere();
        const id = found?.id ?? randomUUID();
        const place = { workspace_id: workspaceId, id };
        if (found) await manager.update(PersonRow, place, { ...given, added_at: () => 'now()' });
        else await manager.insert(PersonRow, { ...place, ...given });
        const target = { type: 'PERSON', id } as const;
        const changes = { role: { old: null, new: person.role } };
        await this.audit.recordAct(manager, workspaceId, { action: 'person.added', target, changes });
        return toPerson(await manager.findOneByOrFail(PersonRow, place));
      });
    } catch (error) {
      throw (error as { code?: unknown }).code === UNIQUE_VIOLATION ? new PersonThere() : error;
    }
  }

  /** Returns everybody, also those who were removed, oldest first; with a choice those with these ids, or who is present. */
  async list(workspaceId: WorkspaceId, of?: readonly string[] | 'present'): Promise<Person[]> {
    const chosen = of === 'present' ? { removed_at: IsNull() } : of && { id: Any(of) };
    const rows = await this.database.inTenant({ workspaceId }, (manager) =>
      manager.find(PersonRow, { where: { workspace_id: workspaceId, ...chosen }, order: OLDEST_FIRST }),
    );
    return rows.map(toPerson);
  }

  /** With `yesLastAdmin` the workspace may have no other one. @throws {@link NoSuchPerson} and {@link LastAdministrator} */
  async setRole(workspaceId: WorkspaceId, id: string, role: Role, yesLastAdmin = false): Promise<Person> {
    return this.change(workspaceId, id, 'person.role_set', { role }, yesLastAdmin || role === 'admin');
  }

  /** Ends the person's sessions at once. The name stays for the audit. Throws as {@link setRole} does. */
  async remove(workspaceId: WorkspaceId, id: string, yesLastAdmin = false): Promise<Person> {
    return this.change(workspaceId, id, 'person.removed', REMOVED, yesLastAdmin);
  }

  /** Removes the person with name, address and account; also one who was removed before. Throws as {@link setRole} does. */
  async erase(workspaceId: WorkspaceId, id: string, yesLastAdmin = false): Promise<Person> {
    const erased = { ...REMOVED, email: null, name: null, issuer: null, subject: null };
    return this.change(workspaceId, id, 'person.erased', erased, yesLastAdmin);
  }

  /**
   * Returns the token of a link that signs the person in once, within five minutes. It ends an earlier one. Without an
   * address it is for the first administrator. @throws {@link NoSuchPerson}
   */
  async makeLink(workspaceId: WorkspaceId, email: string | null): Promise<{ token: string; expiresAt: Date }> {
    const expiresAt = new Date(Date.now() + LINK_MINUTES * 60_000);
    const secret = newSecret();
    await this.database.inTenant({ workspaceId }, async (manager) => {
      const whose = email === null ? { role: 'admin' as const } : { email: isAddress(email) };
      const where = { workspace_id: workspaceId, removed_at: IsNull(), ...whose };
      const meant = await manager.find(PersonRow, { where, order: OLDEST_FIRST });
      const person = meant.find((one) => stateOf(one) === 'open');
      if (!person) throw new NoSuchPerson();
      const link = { link_digest: digestOf(secret), link_expires_at: () => LINK_END };
      await manager.update(PersonRow, { workspace_id: workspaceId, id: person.id }, link);
    });
    return { token: textOf({ workspaceId, secret }), expiresAt };
  }

  /** Uses up a link, which begins a session. Returns null for one that is unknown, used or too old. */
  async useLink(token: string, requestId: string): Promise<WorkspaceSecret | null> {
    const link = readSecret(token);
    if (!link) return null;
    const { workspaceId, secret } = link;
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const inTime = Raw((column) => `${column} BETWEEN now() AND ${LINK_END}`);
      const used = { link_digest: null, link_expires_at: null };
      const unused = { link_digest: digestOf(secret), link_expires_at: inTime };
      const present = { workspace_id: workspaceId, removed_at: IsNull(), ...unused };
      const updated = await manager.update(PersonRow, present, used, { returning: ['id'] });
      const [person] = updated.raw as { id: string }[];
      if (!person) return null;
      const session = newSecret();
      await this.signIn(manager, { workspaceId, personId: person.id, requestId }, { digest: digestOf(session) });
      return { workspaceId, secret: session };
    });
  }

  /**
   * Signs a person in by the account, and binds one who was found by a verified address to it. Nothing else signs the person
   * in from then on. With a digest a session begins. Returns false when the person is bound to another account by now, or
   * another person to this one.
   */
  async bind(
    { workspaceId, personId }: Membership,
    { issuer, subject }: Account,
    requestId: string,
    digest?: Buffer,
  ): Promise<boolean> {
    const present = { workspace_id: workspaceId, id: personId, removed_at: IsNull() };
    const unboundOrSame = [
      { ...present, issuer: IsNull() },
      { ...present, issuer, subject },
    ];
    try {
      return await this.database.inTenant({ workspaceId }, async (manager) => {
        const { affected } = await manager.update(PersonRow, unboundOrSame, { issuer, subject });
        if (affected !== 1) return false;
        return this.signIn(manager, { workspaceId, personId, requestId }, digest && { digest });
      });
    } catch (error) {
      if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return false;
      throw error;
    }
  }

  /**
   * Shows the person as signed in, records it, and begins the session, in the manager's transaction. Until that ends, the
   * person stays. Sessions of the person that are over are deleted. Returns false where the person was removed.
   */
  async signIn(
    manager: EntityManager,
    { workspaceId, ...person }: Membership & PersonAuthor,
    session?: Pick<ConsoleSessionRow, 'digest'> & Partial<ConsoleSessionRow>,
  ): Promise<boolean> {
    const { personId } = person;
    const present = { workspace_id: workspaceId, id: personId, removed_at: IsNull() };
    const { affected } = await manager.update(PersonRow, present, { signed_in_at: () => 'now()' });
    if (affected !== 1) return false;
    const target = { type: 'PERSON', id: personId } as const;
    await this.audit.asPerson(person).recordAct(manager, workspaceId, { action: 'person.signed_in', target });
    await manager.query(FORGET, [workspaceId, personId]);
    if (session)
      await manager.insert(ConsoleSessionRow, { ...session, workspace_id: workspaceId, person_id: personId });
    return true;
  }

  private async change(
    workspaceId: WorkspaceId,
    id: string,
    action: AuditAct['action'],
    changes: Parameters<EntityManager['update']>[2] & object,
    yesLastAdmin: boolean,
  ): Promise<Person> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const own = { workspace_id: workspaceId };
      const place = { ...own, id };
      // All administrators and the person, in one order: of two changes one sees what the other one did.
      const where = [{ ...own, role: 'admin' as const, removed_at: IsNull() }, place];
      const lock = { mode: 'pessimistic_write' } as const;
      const locked = await manager.find(PersonRow, { where, order: { id: 'ASC' }, lock });
      const before = locked.find((one) => one.id === id);
      const erases = action === 'person.erased';
      if (!before || (before.removed_at !== null && !erases)) throw new NoSuchPerson();
      const isAdmin = before.role === 'admin' && before.removed_at === null;
      // One who is closed cannot sign in, so does not count.
      const hasOther = locked.some((one) => one.id !== id && one.role === 'admin' && stateOf(one) === 'open');
      if (isAdmin && !hasOther && !yesLastAdmin) throw new LastAdministrator();
      await manager.update(PersonRow, place, changes);
      const after = await manager.findOneByOrFail(PersonRow, place);
      if (after.removed_at) await manager.delete(ConsoleSessionRow, { workspace_id: workspaceId, person_id: id });
      const role = { old: before.removed_at ? null : before.role, new: after.removed_at ? null : after.role };
      const act = { action, target: { type: 'PERSON', id } } as const;
      if (erases) await this.audit.recordAct(manager, workspaceId, act);
      else if (role.old !== role.new) await this.audit.recordAct(manager, workspaceId, { ...act, changes: { role } });
      return toPerson(after);
    });
  }
}

const REMOVED = { removed_at: () => 'coalesce(removed_at, now())', link_digest: null, link_expires_at: null };

function stateOf({ name, removed_at: removedAt, may_sign_in: maySignIn }: PersonRow) {
  if (removedAt) return name === null ? 'erased' : 'removed';
  return maySignIn ? 'open' : 'closed';
}

function toPerson(row: PersonRow): Person {
  const { id, name, email, role, added_at: addedAt, signed_in_at: signedInAt } = row;
  return { id, name, email, role, state: stateOf(row), addedAt, signedInAt };
}
