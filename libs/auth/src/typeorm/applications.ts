import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { AuditAct } from '#libs/audit/operators';
import {
  type RateLimits,
  type Scope,
  type WorkspaceId,
  applicationId,
  formatRateLimit,
  workspaceId,
} from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { Any, type ObjectLiteral, type UpdateQueryBuilder } from 'typeorm';
import {
  type Application,
  ApplicationEnabled,
  type Credential,
  MadeBefore,
  type PersonOfConsole,
  ScopesChanged,
  assertNoneRaised,
} from '../domain/application';
import { ClientSecrets } from '../domain/client-secrets.port';
import { ApplicationChanges } from './application-changes';
import { ApplicationRow } from './application.row';
import { secretlessOf, secretlessOfOne, secretsOf } from './credentials';
import { END_TOKEN, END_TOKEN_OF_OLD_SECRET, toLimits } from './grant-columns';

/** Works through the policy of the tables' owner. */
const ALL = { outsideTenants: true } as const;

/** Members of an application in the audit. */
const AUDITED = ['scopes', 'limits', 'disabled'] as const;

/** Changes of secrets, which the audit never shows, leave an event in any case. */
const OF_SECRETS = ['application.secret_rotated', 'application.secret_ended', 'application.secret_removed'];

const NO_PREVIOUS_SECRET = {
  previous_secret_digest: null,
  previous_secret_expires_at: null,
  previous_secret_created_at: null,
  previous_secret_last_used_at: null,
};

type Changes = Parameters<UpdateQueryBuilder<ApplicationRow>['set']>[0];

interface CreateOptions {
  /** Where somebody who asks twice is to get one application. */
  readonly clientId?: string;
  /** Its assertions may name the address of the token endpoint as audience. */
  readonly oldAudience?: boolean;
}

/** The secret is known now, and never again. */
export interface WithSecret {
  readonly application: Application;
  readonly clientSecret: string;
}

/** The applications of all workspaces and their secrets, for operators. The console calls {@link asPerson} first. */
@Injectable()
export class Applications {
  constructor(
    private readonly database: Database,
    private readonly changes: ApplicationChanges,
    private readonly secrets: ClientSecrets,
  ) {}

  /** The applications of the person's workspace alone. Changes are acts of the person, who uses the console. */
  asPerson(person: PersonOfConsole): Applications {
    return new Applications(this.database, this.changes.asPerson(person), this.secrets);
  }

  /**
   * Creates an application that may use the API at once. Its secret is shown once and never again.
   * @throws {@link MadeBefore} for a client id that is taken
   */
  async create(
    workspaceId: WorkspaceId,
    name: string,
    scopes: readonly Scope[],
    options: CreateOptions = {},
  ): Promise<WithSecret> {
    const { secret, digest } = this.secrets.newSecret();
    const ofSecret = { secret_digest: digest, secret_created_at: () => 'now()' };
    return { application: await this.insert(workspaceId, name, scopes, options, ofSecret), clientSecret: secret };
  }

  /** Creates an application that proves itself by a key or a trust alone. Throws as {@link create} does. */
  async createWithoutSecret(
    workspaceId: WorkspaceId,
    name: string,
    scopes: readonly Scope[],
    options: CreateOptions = {},
  ): Promise<Application> {
    return this.insert(workspaceId, name, scopes, options, { secret_digest: null });
  }

  private async insert(
    workspaceId: WorkspaceId,
    name: string,
    scopes: readonly Scope[],
    { clientId = this.secrets.newClientId(), oldAudience = false }: CreateOptions,
    ofSecret: Changes,
  ): Promise<Application> {
    const row = {
      ...{ workspace_id: workspaceId, client_id: clientId, name, scopes: [...new Set(scopes)] },
      ...{ old_audience: oldAudience, ...ofSecret },
    };
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const inserted = await manager
        .createQueryBuilder()
        .insert()
        .into(ApplicationRow)
        .values(row)
        .orIgnore()
        .returning('*')
        .execute();
      const [created] = inserted.raw as ApplicationRow[];
      if (!created) throw new MadeBefore();
      await this.changes.record(manager, created, 'application.created', between(null, created));
      return toApplication(created, []);
    });
  }

  /** Returns all applications of the workspace, or of every one when it is null, oldest first. */
  async list(workspaceId: WorkspaceId | null): Promise<Application[]> {
    const where = workspaceId ? { workspace_id: workspaceId } : {};
    return this.database.inTenant(workspaceId ? { workspaceId } : ALL, async (manager) => {
      const rows = await manager.find(ApplicationRow, { where, order: { created_at: 'ASC', id: 'ASC' } });
      const others = await secretlessOf(manager, where);
      const of = new Map(rows.map(({ client_id }) => [client_id, [] as Credential[]]));
      for (const [clientId, credential] of others) of.get(clientId)?.push(credential);
      return rows.map((row) => toApplication(row, of.get(row.client_id) ?? []));
    });
  }

  /** Returns the names of the workspace's applications with these client ids. */
  async namesOf(workspaceId: WorkspaceId, clientIds: readonly string[]): Promise<(readonly [string, string])[]> {
    const where = { workspace_id: workspaceId, client_id: Any(clientIds) };
    const rows = await this.database.inTenant({ workspaceId }, (manager) =>
      manager.find(ApplicationRow, { select: { client_id: true, name: true }, where }),
    );
    return rows.map(({ client_id, name }) => [client_id, name]);
  }

  /** Returns null for an unknown client id. */
  async find(clientId: string): Promise<Application | null> {
    return this.changes.read(clientId, async (manager, row) =>
      toApplication(row, await secretlessOfOne(manager, clientId)),
    );
  }

  /** Tells whether this is the current secret of an application. */
  async hasSecret(clientId: string, secret: string): Promise<boolean> {
    const digest = this.secrets.digest(secret);
    const found = await this.changes.read(clientId, (_, { secret_digest: current }) =>
      Promise.resolve(current !== null && this.secrets.isOneOf(digest, [current])),
    );
    return found ?? false;
  }

  /** Returns null for an unknown client id, like all methods below. Each change applies from the next request on. */
  async setDisabled(clientId: string, disabled: boolean): Promise<Application | null> {
    return this.change(clientId, disabled ? 'application.disabled' : 'application.enabled', { disabled });
  }

  /** @param changed scopes that somebody knows and changes, as a text. @throws {@link ScopesChanged} for others, unless they are as wanted */
  async setScopes(clientId: string, scopes: readonly Scope[], changed?: string): Promise<Application | null> {
    const wanted = [...new Set(scopes)];
    return this.change(clientId, 'application.scopes_set', { scopes: wanted }, {}, ({ scopes: present }) => {
      if (changed === undefined || [changed, String(wanted)].includes(String(present))) return true;
      throw new ScopesChanged(present);
    });
  }

  /**
   * Sets the limits of the named classes only. With `general`, those in force for others, it raises none.
   * @throws `LimitRaised`
   */
  async setLimits(
    clientId: string,
    limits: Partial<RateLimits>,
    general: RateLimits | null = null,
  ): Promise<Application | null> {
    const added = JSON.stringify(fromLimits(limits));
    const changes = { limits: () => 'limits || CAST(:added AS jsonb)' };
    return this.change(clientId, 'application.limits_set', changes, { added }, (before) => {
      if (general) assertNoneRaised(limits, { ...general, ...toLimits(before.limits) });
      return true;
    });
  }

  async clearLimits(clientId: string): Promise<Application | null> {
    return this.change(clientId, 'application.limits_set', { limits: {} });
  }

  /**
   * Creates a new secret, shown only once. Without an overlap the old secret, the active token and its stream end. With
   * one, a secret that was old before ends like by {@link endOldSecret}.
   * @param madeAt of the newest secret, where somebody who asks twice is to get one. @throws {@link MadeBefore} for another
   */
  async rotateSecret(
    clientId: string,
    overlapSeconds: number | null,
    madeAt?: Date | null,
  ): Promise<WithSecret | null> {
    const { secret, digest } = this.secrets.newSecret();
    const previous =
      overlapSeconds === null
        ? { ...NO_PREVIOUS_SECRET, ...END_TOKEN }
        : {
            previous_secret_digest: () => 'secret_digest',
            previous_secret_expires_at: () =>
              'CASE WHEN secret_digest IS NOT NULL THEN now() + make_interval(secs => :overlapSeconds) END',
            previous_secret_created_at: () => 'secret_created_at',
            previous_secret_last_used_at: () => 'secret_last_used_at',
            ...END_TOKEN_OF_OLD_SECRET,
          };
    const fresh = { secret_digest: digest, secret_created_at: () => 'now()', secret_last_used_at: null };
    const changes = { ...fresh, ...previous };
    const rotated = 'application.secret_rotated';
    const application = await this.change(clientId, rotated, changes, { overlapSeconds }, ofNewest(madeAt));
    return application && { application, clientSecret: secret };
  }

  /**
   * Removes the secret, so that only keys and trusts prove the application. Ends an overlap, the live token and its stream.
   * @param madeAt of the newest secret, where somebody knows it. @throws {@link MadeBefore} for another
   */
  async removeSecret(clientId: string, madeAt?: Date | null): Promise<Application | null> {
    // Nobody makes a secret again who asked for another one before.
    const removed = { secret_digest: null, secret_created_at: () => 'now()', secret_last_used_at: null };
    const changes = { ...removed, ...NO_PREVIOUS_SECRET, ...END_TOKEN };
    const hasAny = (before: ApplicationRow): boolean => secretsOf(before).length > 0;
    return this.change(clientId, 'application.secret_removed', changes, {}, ofNewest(madeAt, hasAny));
  }

  /**
   * Ends the old secret now, or what its overlap left: the live token and the stream whose token that secret obtained. Takes
   * `madeAt` as {@link removeSecret} does.
   */
  async endOldSecret(clientId: string, madeAt?: Date | null): Promise<Application | null> {
    const changes = { ...NO_PREVIOUS_SECRET, ...END_TOKEN_OF_OLD_SECRET };
    const hasOld = (before: ApplicationRow): boolean => before.previous_secret_digest !== null;
    return this.change(clientId, 'application.secret_ended', changes, {}, ofNewest(madeAt, hasOld));
  }

  /**
   * Deletes a disabled application for good. Its audit events stay.
   * @throws {@link ApplicationEnabled} unless it is disabled
   */
  async delete(clientId: string): Promise<Application | null> {
    return this.changes.changeGrant(clientId, async ({ manager, application: row, record }) => {
      if (!row.disabled) throw new ApplicationEnabled(clientId);
      await manager.delete(ApplicationRow, { client_id: clientId });
      await record('application.deleted', between(row, null));
      return toApplication(row, []);
    });
  }

  /**
   * Changes the application and records it, where it is to change as it is under the lock. A change without effect
   * leaves no event, except for a new secret.
   */
  private async change(
    clientId: string,
    action: AuditAct['action'],
    changes: Changes,
    parameters: ObjectLiteral = {},
    isToChange: (before: ApplicationRow) => boolean = () => true,
  ): Promise<Application | null> {
    return this.changes.changeGrant(clientId, async ({ manager, application: before, record }) => {
      if (!isToChange(before)) return toApplication(before, await secretlessOfOne(manager, clientId));
      const updated = await manager
        .createQueryBuilder()
        .update(ApplicationRow)
        .set(changes)
        .where({ client_id: clientId })
        .setParameters(parameters)
        .returning('*')
        .execute();
      const [after] = updated.raw as [ApplicationRow];
      const changed = between(before, after);
      if (Object.keys(changed).length > 0 || OF_SECRETS.includes(action)) await record(action, changed);
      return toApplication(after, await secretlessOfOne(manager, clientId));
    });
  }
}

/** Changes what has this newest secret. @throws {@link MadeBefore} where somebody knows an older one */
const ofNewest =
  (madeAt: Date | null | undefined, isToChange: (before: ApplicationRow) => boolean = () => true) =>
  (before: ApplicationRow): boolean => {
    if (madeAt === undefined || before.secret_created_at?.getTime() === madeAt?.getTime()) return isToChange(before);
    throw new MadeBefore();
  };

/** The audited fields that changed. */
function between(before: ApplicationRow | null, after: ApplicationRow | null): NonNullable<AuditAct['changes']> {
  const changed = AUDITED.filter((field) => !isDeepStrictEqual(before?.[field], after?.[field]));
  return Object.fromEntries(changed.map((field) => [field, { old: before?.[field], new: after?.[field] }]));
}

function toApplication(row: ApplicationRow, others: readonly Credential[]): Application {
  return {
    workspaceId: workspaceId(row.workspace_id),
    id: applicationId(row.id),
    clientId: row.client_id,
    name: row.name,
    scopes: row.scopes,
    limits: toLimits(row.limits),
    disabled: row.disabled,
    generation: BigInt(row.generation),
    issuedAt: row.issued_at,
    createdAt: row.created_at,
    secretMadeAt: row.secret_created_at,
    previousSecretExpiresAt: row.previous_secret_expires_at,
    credentials: [...secretsOf(row), ...others],
  };
}

function fromLimits(limits: Partial<RateLimits>): ApplicationRow['limits'] {
  return Object.fromEntries(Object.entries(limits).map(([rateClass, limit]) => [rateClass, formatRateLimit(limit)]));
}
