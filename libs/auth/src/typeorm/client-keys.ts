import { Injectable } from '@nestjs/common';
import { ValidationFailed } from '#libs/kernel';
import type { EntityManager } from 'typeorm';
import type { PersonOfConsole } from '../domain/application';
import type { ClientKey } from '../domain/client-assertion';
import { ApplicationKeyRow } from './application-key.row';
import { ApplicationChanges } from './application-changes';

const MOST_KEYS = 10;

/** A key of an application, as operators see it. */
export interface ListedKey extends Pick<ClientKey, 'kid' | 'algorithms'> {
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** A key or trust like it exists, or the application has as many as it may. */
export class CredentialNotAdded extends ValidationFailed {
  constructor(parameter: 'jwk' | 'issuer', detail: string) {
    super([{ parameter, code: 'duplicated', detail }]);
  }
}

/** Public keys of applications. For operators only. A change acts on the next token request of every instance. */
@Injectable()
export class ClientKeys {
  constructor(private readonly credentials: ApplicationChanges) {}

  /** The keys of the person's workspace alone. Changes are acts of the person, who uses the console. */
  asPerson(person: PersonOfConsole): ClientKeys {
    return new ClientKeys(this.credentials.asPerson(person));
  }

  /** Returns the keys, oldest first. Null for an unknown client id, like the methods below. */
  async list(clientId: string): Promise<ListedKey[] | null> {
    return this.credentials.read(clientId, (manager) => keysOf(manager, clientId));
  }

  /** Adds all of these keys or none. Returns all keys. @throws {@link CredentialNotAdded} */
  async add(clientId: string, keys: readonly ClientKey[]): Promise<ListedKey[] | null> {
    return this.credentials.change(clientId, async ({ manager, application: { workspace_id }, record }) => {
      const present = await keysOf(manager, clientId);
      if (present.length + keys.length > MOST_KEYS) {
        throw new CredentialNotAdded('jwk', `An application has at most ${MOST_KEYS} keys.`);
      }
      const kids = new Set(present.map(({ kid }) => kid));
      for (const { kid, algorithms, jwk } of keys) {
        if (kids.has(kid)) throw new CredentialNotAdded('jwk', `The application has a key "${kid}" already.`);
        kids.add(kid);
        const row = { workspace_id, client_id: clientId, kid, algorithms: [...algorithms], jwk };
        await manager.insert(ApplicationKeyRow, row);
        await record('application.key_added', { kid: { old: null, new: kid } });
      }
      return keysOf(manager, clientId);
    });
  }

  /** Removes a key and ends the live token. Returns the other keys, or undefined when there is no such key. */
  async remove(clientId: string, kid: string): Promise<ListedKey[] | null | undefined> {
    return this.credentials.changeGrant(clientId, async ({ manager, endToken, record }) => {
      const { affected } = await manager.delete(ApplicationKeyRow, { client_id: clientId, kid });
      if (!affected) return undefined;
      await endToken();
      await record('application.key_removed', { kid: { old: kid, new: null } });
      return keysOf(manager, clientId);
    });
  }
}

async function keysOf(manager: EntityManager, clientId: string): Promise<ListedKey[]> {
  const order = { created_at: 'ASC', kid: 'ASC' } as const;
  const rows = await manager.find(ApplicationKeyRow, { where: { client_id: clientId }, order });
  return rows.map(({ kid, algorithms, created_at: createdAt, last_used_at: lastUsedAt }) => {
    return { kid, algorithms, createdAt, lastUsedAt };
  });
}
