import { Injectable } from '@nestjs/common';
import { type AuditAct, AuditRecorder } from '#libs/audit/operators';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { Database, type TenantScope } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import type { PersonOfConsole } from '../domain/application';
import { ApplicationRow } from './application.row';

/** A transaction in which the application's credentials change. Records acts on the application. */
export interface CredentialChange {
  readonly manager: EntityManager;
  readonly workspaceId: string;
  readonly record: (action: AuditAct['action'], changes: AuditAct['changes']) => Promise<void>;
}

/** Changes of how applications prove themselves. */
@Injectable()
export class CredentialChanges {
  /** Null for operators, who see every workspace. */
  private workspaceId: WorkspaceId | null = null;

  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
  ) {}

  /** The changes of the person's workspace alone, which are acts of the person. */
  asPerson({ workspaceId, personId }: PersonOfConsole): CredentialChanges {
    const own = new CredentialChanges(this.database, this.audit.asPerson(personId));
    own.workspaceId = workspaceId;
    return own;
  }

  /** Locks the application first, as a token request does. Returns null for an unknown client id. */
  async change<Result>(clientId: string, work: (change: CredentialChange) => Promise<Result>): Promise<Result | null> {
    return this.database.inTenant(this.scopeOf(clientId), async (manager) => {
      const lock = { mode: 'pessimistic_write' } as const;
      const application = await manager.findOne(ApplicationRow, { where: { client_id: clientId }, lock });
      if (!application) return null;
      const workspace = workspaceId(application.workspace_id);
      const target = { type: 'APPLICATION', id: clientId } as const;
      const record: CredentialChange['record'] = (action, changes) =>
        this.audit.record(workspace, { action, actor: { type: 'OPERATOR' }, target, changes }, (text, values) =>
          manager.query(text, values),
        );
      return work({ manager, workspaceId: workspace, record });
    });
  }

  /** Reads what belongs to an application. Returns null for an unknown client id. */
  async read<Result>(clientId: string, work: (manager: EntityManager) => Promise<Result>): Promise<Result | null> {
    return this.database.inTenant(this.scopeOf(clientId), async (manager) => {
      const isKnown = await manager.existsBy(ApplicationRow, { client_id: clientId });
      return isKnown ? work(manager) : null;
    });
  }

  private scopeOf(clientId: string): TenantScope {
    return this.workspaceId ? { workspaceId: this.workspaceId } : { clientId };
  }
}
