import { Injectable } from '@nestjs/common';
import { type AuditAct, AuditRecorder } from '#libs/audit/operators';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { Database, type TenantScope } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import type { PersonOfConsole } from '../domain/application';
import { ApplicationRow } from './application.row';

/** A transaction in which an application changes. */
export interface ApplicationChange {
  readonly manager: EntityManager;
  /** Locked, as it was before. */
  readonly application: ApplicationRow;
  readonly workspaceId: WorkspaceId;
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
  ) {}

  /** The changes of the person's workspace alone, which are acts of the person. */
  asPerson({ workspaceId, personId }: PersonOfConsole): ApplicationChanges {
    const own = new ApplicationChanges(this.database, this.audit.asPerson(personId));
    own.workspaceId = workspaceId;
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
      return work({ manager, application, workspaceId: workspaceId(application.workspace_id), record });
    });
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
    const act: AuditAct = { action, actor: { type: 'OPERATOR' }, target, changes };
    await this.audit.record(workspaceId(workspace_id), act, (text, values) => manager.query(text, values));
  }

  private scopeOf(clientId: string): TenantScope {
    return this.workspaceId ? { workspaceId: this.workspaceId } : { clientId };
  }
}
