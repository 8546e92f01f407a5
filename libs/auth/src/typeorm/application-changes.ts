import { Injectable } from '@nestjs/common';
import { type AuditAct, AuditRecorder } from '#libs/audit/operators';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { Database, type TenantScope } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import type { PersonOfConsole } from '../domain/application';
import { GrantCache } from '../domain/grant-cache.port';
import { ApplicationRow } from './application.row';
import { END_TOKEN } from './grant-columns';

/** A transaction in which an application changes. */
export interface ApplicationChange {
  readonly manager: EntityManager;
  /** Locked, as it was before. */
  readonly application: ApplicationRow;
  /** Ends the live token and its stream. */
  readonly endToken: () => Promise<unknown>;
  /** Records an act on the application. */
  readonly record: (action: AuditAct['action'], changes: AuditAct['changes']) => Promise<void>;
}

/** Changes of applications and of how they prove themselves. */
@Injectable()
export class ApplicationChanges {
  /** Null for operators, who see every workspace. */
  private workspaceId: WorkspaceId | null = null;

  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
    private readonly grants: GrantCache,
  ) {}

  /** The changes of the person's workspace alone, which are acts of the person. */
  asPerson(person: PersonOfConsole): ApplicationChanges {
    const own = new ApplicationChanges(this.database, this.audit.asPerson(person), this.grants);
    own.workspaceId = person.workspaceId;
    return own;
  }

  /** Locks the application first, as a token request does. Returns null for an unknown client id. */
  async change<Result>(clientId: string, work: (change: ApplicationChange) => Promise<Result>): Promise<Result | null> {
    return this.database.inTenant(this.scopeOf(clientId), async (manager) => {
      const lock = { mode: 'pessimistic_write' } as const;
      const application = await manager.findOne(ApplicationRow, { where: { client_id: clientId }, lock });
      if (!application) return null;
      const record: ApplicationChange['record'] = (action, changes) =>
        this.record(manager, application, action, changes);
      const endToken = () => manager.update(ApplicationRow, { client_id: clientId }, END_TOKEN);
      return work({ manager, application, endToken, record });
    });
  }

  /** The same for what requests are checked against. Returns only once every instance applies the change. */
  async changeGrant<Result>(
    clientId: string,
    work: (change: ApplicationChange) => Promise<Result>,
  ): Promise<Result | null> {
    const result = await this.change(clientId, work);
    if (result) await this.grants.invalidate(clientId);
    return result;
  }

  /** Reads what belongs to an application. Returns null for an unknown client id. */
  async read<Result>(
    clientId: string,
    work: (manager: EntityManager, application: ApplicationRow) => Promise<Result>,
  ): Promise<Result | null> {
    return this.database.inTenant(this.scopeOf(clientId), async (manager) => {
      const application = await manager.findOneBy(ApplicationRow, { client_id: clientId });
      return application && work(manager, application);
    });
  }

  /** Records an act on an application in the transaction that carries it out. */
  async record(
    manager: EntityManager,
    { workspace_id, client_id }: ApplicationRow,
    action: AuditAct['action'],
    changes: AuditAct['changes'],
  ): Promise<void> {
    const target = { type: 'APPLICATION', id: client_id } as const;
    await this.audit.recordAct(manager, workspaceId(workspace_id), { action, target, changes });
  }

  private scopeOf(clientId: string): TenantScope {
    return this.workspaceId ? { workspaceId: this.workspaceId } : { clientId };
  }
}
