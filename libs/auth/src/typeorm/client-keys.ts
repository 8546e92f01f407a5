import { Injectable } from '@nestjs/common';
import { AuditRecorder } from '#libs/audit/operators';
import { workspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import type { ClientKey } from '../domain/client-assertion';
import { GrantCache } from '../domain/grant-cache.port';
import { ApplicationKeyRow } from './application-key.row';
import { ApplicationRow } from './application.row';
import { END_TOKEN } from './grant-columns';

export const MOST_KEYS = 10;

/** A key of an application, as operators see it. */
export interface ListedKey extends Pick<ClientKey, 'kid' | 'algorithms'> {
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** A key of this id exists, or the application has as many keys as it may. */
export class ClientKeyNotAdded extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ClientKeyNotAdded';
  }
}

/** Public keys of applications. For operators only. A change acts on the next token request of every instance. */
@Injectable()
export class ClientKeys {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
    private readonly grants: GrantCache,
  ) {}

  /** Returns the keys, oldest first. Null for an unknown client id, like the methods below. */
  async list(clientId: string): Promise<ListedKey[] | null> {
    return this.database.inTenant({ clientId }, async (manager) => {
      const isKnown = await manager.existsBy(ApplicationRow, { client_id: clientId });
      return isKnown ? keysOf(manager, clientId) : null;
    });
  }

  /** Adds all of these keys or none. Returns all keys. @throws {@link ClientKeyNotAdded} */
  async add(clientId: string, keys: readonly ClientKey[]): Promise<ListedKey[] | null> {
    return this.change(clientId, async (manager, application) => {
      const present = await keysOf(manager, clientId);
      if (present.length + keys.length > MOST_KEYS) {
        throw new ClientKeyNotAdded(`An application has at most ${MOST_KEYS} keys.`);
      }
      const kids = new Set(present.map(({ kid }) => kid));
      for (const { kid, algorithms, jwk } of keys) {
        if (kids.has(kid)) throw new ClientKeyNotAdded(`The application has a key "${kid}" already.`);
        kids.add(kid);
        const row = {
          workspace_id: application.workspace_id,
          client_id: clientId,
          kid,
          algorithms: [...algorithms],
          jwk,
        };
        await manager.insert(ApplicationKeyRow, row);
        await this.record(manager, application, 'application.key_added', { old: null, new: kid });
      }
      return keysOf(manager, clientId);
    });
  }

  /** Removes a key and ends the live token. Returns the other keys, or undefined when there is no such key. */
  async remove(clientId: string, kid: string): Promise<ListedKey[] | null | undefined> {
    const left = await this.change(clientId, async (manager, application) => {
      const { affected } = await manager.delete(ApplicationKeyRow, { client_id: clientId, kid });
      if (affected === 0) return undefined;
      await manager.update(ApplicationRow, { client_id: clientId }, END_TOKEN);
      await this.record(manager, application, 'application.key_removed', { old: kid, new: null });
      return keysOf(manager, clientId);
    });
    if (left) await this.grants.invalidate(clientId);
    return left;
  }

  /** Locks the application first, as a token request does. */
  private async change<Result>(
    clientId: string,
    work: (manager: EntityManager, application: ApplicationRow) => Promise<Result>,
  ): Promise<Result | null> {
    return this.database.inTenant({ clientId }, async (manager) => {
      const lock = { mode: 'pessimistic_write' } as const;
      const application = await manager.findOne(ApplicationRow, { where: { client_id: clientId }, lock });
      return application && work(manager, application);
    });
  }

  private async record(
    manager: EntityManager,
    { workspace_id, client_id }: ApplicationRow,
    action: string,
    kid: { readonly old: string | null; readonly new: string | null },
  ): Promise<void> {
    const target = { type: 'APPLICATION', id: client_id } as const;
    const act = { action, actor: { type: 'OPERATOR' }, target, changes: { kid } } as const;
    await this.audit.record(workspaceId(workspace_id), act, (text, values) => manager.query(text, values));
  }
}

async function keysOf(manager: EntityManager, clientId: string): Promise<ListedKey[]> {
  const order = { created_at: 'ASC', kid: 'ASC' } as const;
  return (await manager.find(ApplicationKeyRow, { where: { client_id: clientId }, order })).map(toListedKey);
}

export const toListedKey = ({ kid, algorithms, created_at, last_used_at }: ApplicationKeyRow): ListedKey => ({
  kid,
  algorithms,
  createdAt: created_at,
  lastUsedAt: last_used_at,
});
