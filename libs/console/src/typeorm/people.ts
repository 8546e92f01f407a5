import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type AuditAct, AuditRecorder } from '#libs/audit/operators';
import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { type EntityManager, IsNull } from 'typeorm';
import {
  type Account,
  LastAdministrator,
  type Membership,
  NoSuchPerson,
  type Person,
  PersonThere,
  type Role,
  isSameEmail,
} from '../domain/person';
import { ConsoleSessionRow } from './console-session.row';
import { PersonRow } from './person.row';
import { digestOf, newSecret, readSecret, textOf } from './workspace-secret';

/** A person who did not sign in within so many days of being added is closed. The function console_memberships knows it. */
const OPEN_DAYS = 14;
const LINK_MINUTES = 5;
const UNIQUE_VIOLATION = '23505';

interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Binds the person at once, for an issuer that verifies no e-mail addresses. */
  readonly account?: Pick<Account, 'issuer' | 'subject'>;
}

/** A change may leave the workspace without an administrator only where this says so. */
interface Force {
  readonly yesLastAdmin?: boolean;
}

/** The people of a workspace. Each change ends in the audit, without names and addresses. */
@Injectable()
export class People {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
  ) {}

  /** The same people, whose changes are acts of this person. */
  asPerson(personId: string): People {
    return new People(this.database, this.audit.asPerson(personId));
  }

  /** Adds a person, or opens a closed one again. @throws {@link PersonThere} */
  async add(workspaceId: WorkspaceId, { email, name, role, account }: NewPerson): Promise<Person> {
    const given = { email, name, role, issuer: account?.issuer ?? null, subject: account?.subject ?? null };
    try {
      return await this.database.inTenant({ workspaceId }, async (manager) => {
        const found = await manager
          .createQueryBuilder(PersonRow, 'person')
          .setLock('pessimistic_write')
          .where('workspace_id = :workspaceId AND removed_at IS NULL', { workspaceId })
          .andWhere(
            `(lower(email COLLATE "C") = lower(:email COLLATE "C") OR (issuer = :issuer AND subject = :subject))`,
          )
          .setParameters(given)
          .getOne();
        if (found && stateOf(found) !== 'closed') throw new PersonThere();
        const id = found?.id ?? randomUUID();
        const place = { workspace_id: workspaceId, id };
        if (found) await manager.update(PersonRow, place, { ...given, added_at: () => 'now()' });
        else await manager.insert(PersonRow, { ...place, ...given });
        await this.record(manager, workspaceId, id, 'person.added', { old: null, new: role });
        return toPerson(await this.get(manager, workspaceId, id));
      });
    } catch (error) {
      throw (error as { code?: unknown }).code === UNIQUE_VIOLATION ? new PersonThere() : error;
    }
  }

  /** Returns everybody, also those who were removed, oldest first. */
  async list(workspaceId: WorkspaceId): Promise<Person[]> {
    const rows = await this.database.inTenant({ workspaceId }, (manager) =>
      manager.find(PersonRow, { where: { workspace_id: workspaceId }, order: { added_at: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toPerson);
  }

  /** @throws {@link NoSuchPerson} and {@link LastAdministrator} */
  async setRole(workspaceId: WorkspaceId, id: string, role: Role, force: Force = {}): Promise<Person> {
    return this.change(workspaceId, id, 'person.role_set', { role }, role === 'admin' ? { yesLastAdmin: true } : force);
  }

  /** Ends the person's sessions at once. The name stays for the audit. Throws as {@link setRole} does. */
  async remove(workspaceId: WorkspaceId, id: string, force: Force = {}): Promise<Person> {
    return this.change(workspaceId, id, 'person.removed', REMOVED, force);
  }

  /** Removes the person with name, address and account; also one who was removed before. Throws as {@link setRole} does. */
  async erase(workspaceId: WorkspaceId, id: string, force: Force = {}): Promise<Person> {
    const erased = { ...REMOVED, email: null, name: null, issuer: null, subject: null };
    return this.change(workspaceId, id, 'person.erased', erased, force);
  }

  /**
   * Returns the token of a link that signs the person in once, within five minutes. It ends an earlier one. Without an
   * address it is for the first administrator. @throws {@link NoSuchPerson}
   */
  async makeLink(workspaceId: WorkspaceId, email: string | null): Promise<{ token: string; expiresAt: Date }> {
    const expiresAt = new Date(Date.now() + LINK_MINUTES * 60_000);
    const secret = newSecret();
    await this.database.inTenant({ workspaceId }, async (manager) => {
      const people = await manager.find(PersonRow, {
        where: { workspace_id: workspaceId, removed_at: IsNull() },
        order: { added_at: 'ASC', id: 'ASC' },
      });
      const isMeant = ({ role, ...one }: PersonRow): boolean =>
        email === null ? role === 'admin' : one.email !== null && isSameEmail(one.email, email);
      const person = people.find((one) => isMeant(one) && stateOf(one) === 'open');
      if (!person) throw new NoSuchPerson();
      const link = { link_digest: digestOf(secret), link_expires_at: expiresAt };
      await manager.update(PersonRow, { workspace_id: workspaceId, id: person.id }, link);
    });
    return { token: textOf({ workspaceId, secret }), expiresAt };
  }

  /** Uses up a link. Returns null for one that is unknown, used or too old. */
  async useLink(token: string): Promise<Membership | null> {
    const link = readSecret(token);
    if (!link) return null;
    const { workspaceId, secret } = link;
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const used = await manager
        .createQueryBuilder()
        .update(PersonRow)
        .set({ link_digest: null, link_expires_at: null, signed_in_at: () => 'now()' })
        .where('workspace_id = :workspaceId AND link_digest = :digest', { workspaceId, digest: digestOf(secret) })
        .andWhere('link_expires_at > now() AND removed_at IS NULL')
        .returning('id')
        .execute();
      const [person] = used.raw as { id: string }[];
      return person ? { workspaceId, personId: person.id } : null;
    });
  }

  /**
   * Binds a person who was found by a verified address to the account. Nothing else signs the person in from then on.
   * Returns false when the person is bound to another account by now, or another person to this one.
   */
  async bind(workspaceId: WorkspaceId, id: string, { issuer, subject }: Account): Promise<boolean> {
    try {
      const { affected } = await this.database.inTenant({ workspaceId }, (manager) =>
        manager
          .createQueryBuilder()
          .update(PersonRow)
          .set({ issuer, subject, signed_in_at: () => 'now()' })
          .where('workspace_id = :workspaceId AND id = :id AND removed_at IS NULL', { workspaceId, id })
          .andWhere('(issuer IS NULL OR (issuer = :issuer AND subject = :subject))', { issuer, subject })
          .execute(),
      );
      return affected === 1;
    } catch (error) {
      if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return false;
      throw error;
    }
  }

  private async change(
    workspaceId: WorkspaceId,
    id: string,
    action: AuditAct['action'],
    changes: Parameters<EntityManager['update']>[2] & object,
    { yesLastAdmin = false }: Force,
  ): Promise<Person> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const before = await this.lockAdministrators(manager, workspaceId, id);
      const erases = action === 'person.erased';
      if (!before || (before.removed_at !== null && !erases)) throw new NoSuchPerson();
      if (before.isLastAdmin && !yesLastAdmin) throw new LastAdministrator();
      await manager.update(PersonRow, { workspace_id: workspaceId, id }, changes);
      const after = await this.get(manager, workspaceId, id);
      if (after.removed_at) await manager.delete(ConsoleSessionRow, { workspace_id: workspaceId, person_id: id });
      const roles = { old: before.removed_at ? null : before.role, new: after.removed_at ? null : after.role };
      if (roles.old !== roles.new || erases) {
        await this.record(manager, workspaceId, id, action, erases ? null : roles);
      }
      return toPerson(after);
    });
  }

  /**
   * Locks all administrators and the person, in one order: of two changes one sees what the other one did. One who is closed
   * cannot sign in, so does not count.
   */
  private async lockAdministrators(
    manager: EntityManager,
    workspaceId: WorkspaceId,
    id: string,
  ): Promise<(PersonRow & { readonly isLastAdmin: boolean }) | null> {
    const locked = await manager
      .createQueryBuilder(PersonRow, 'person')
      .setLock('pessimistic_write')
      .where('workspace_id = :workspaceId', { workspaceId })
      .andWhere(`((role = 'admin' AND removed_at IS NULL) OR id = :id)`, { id })
      .orderBy('id')
      .getMany();
    const person = locked.find((one) => one.id === id);
    if (!person) return null;
    const isAdmin = person.role === 'admin' && person.removed_at === null;
    const others = locked.filter((one) => one.id !== id && one.role === 'admin' && stateOf(one) === 'open');
    return Object.assign(person, { isLastAdmin: isAdmin && others.length === 0 });
  }

  private get(manager: EntityManager, workspaceId: WorkspaceId, id: string): Promise<PersonRow> {
    return manager.findOneByOrFail(PersonRow, { workspace_id: workspaceId, id });
  }

  private async record(
    manager: EntityManager,
    workspaceId: WorkspaceId,
    id: string,
    action: AuditAct['action'],
    role: { readonly old: Role | null; readonly new: Role | null } | null,
  ): Promise<void> {
    const act = { action, actor: { type: 'OPERATOR' }, target: { type: 'PERSON', id } } as const;
    const changed = role ? { changes: { role } } : {};
    await this.audit.record(workspaceId, { ...act, ...changed }, (text, values) => manager.query(text, values));
  }
}

const REMOVED = { removed_at: () => 'coalesce(removed_at, now())', link_digest: null, link_expires_at: null };

function stateOf({ name, removed_at: removedAt, signed_in_at: signedInAt, added_at: addedAt }: PersonRow) {
  if (removedAt) return name === null ? 'erased' : 'removed';
  return signedInAt || addedAt.getTime() > Date.now() - OPEN_DAYS * 86_400_000 ? 'open' : 'closed';
}

function toPerson(row: PersonRow): Person {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    state: stateOf(row),
    bound: row.issuer !== null,
    addedAt: row.added_at,
    signedInAt: row.signed_in_at,
  };
}
