import { Injectable } from '@nestjs/common';
import { Settings } from '#libs/platform/config';
import type { EntityManager } from 'typeorm';
import type { PersonOfConsole } from '../domain/application';
import type { ClientKey } from '../domain/client-assertion';
import { GrantCache } from '../domain/grant-cache.port';
import type { TrustedIssuer } from '../domain/trusted-issuer';
import { ApplicationTrustRow } from './application-trust.row';
import { ApplicationRow } from './application.row';
import { CredentialNotAdded } from './client-keys';
import { ApplicationChanges } from './application-changes';
import { END_TOKEN } from './grant-columns';

const MOST_TRUSTS = 10;

/** A trust of an application, as operators see it. */
export interface ListedTrust {
  readonly id: string;
  readonly state: ApplicationTrustRow['state'];
  /** Why the last fetch failed. */
  readonly failure: string | null;
  readonly issuer: string;
  readonly subject: string;
  readonly audience: string;
  /** The last good fetch. Null for a set that an operator gave. */
  readonly fetchedAt: Date | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly given: boolean;
  readonly source: TrustedIssuer;
}

export interface NewTrust {
  readonly issuer: string;
  readonly subject: string;
  /** Null means the address of the API. */
  readonly audience: string | null;
  readonly insecure: boolean;
  /** Whether the operator gave the keys, so that they are never fetched. */
  readonly given: boolean;
  /** Null for a trust of the console, which waits until a background worker fetched its keys. */
  readonly keys: readonly ClientKey[] | null;
}

/** Issuers whose tokens prove applications. For operators only. A change acts on the next token request of every instance. */
@Injectable()
export class Trusts {
  constructor(
    private readonly credentials: ApplicationChanges,
    private readonly grants: GrantCache,
    private readonly settings: Settings,
  ) {}

  /** The trusts of the person's workspace alone. Changes are acts of the person, who uses the console. */
  asPerson(person: PersonOfConsole): Trusts {
    return new Trusts(this.credentials.asPerson(person), this.grants, this.settings);
  }

  /** Returns the trusts, oldest first. Null for an unknown client id, like the methods below. */
  async list(clientId: string): Promise<ListedTrust[] | null> {
    return this.credentials.read(clientId, (manager) => this.trustsOf(manager, clientId));
  }

  /** Returns all trusts. @throws {@link CredentialNotAdded} */
  async add(clientId: string, { issuer, subject, audience, ...trust }: NewTrust): Promise<ListedTrust[] | null> {
    return this.credentials.change(clientId, async ({ manager, workspaceId, record }) => {
      const present = await this.trustsOf(manager, clientId);
      if (present.length >= MOST_TRUSTS) {
        throw new CredentialNotAdded(`An application has at most ${MOST_TRUSTS} trusts.`);
      }
      const named = { issuer, subject, audience: audience ?? this.settings.baseUrl };
      const like = present.find(
        (one) => one.issuer === issuer && one.subject === subject && one.audience === named.audience,
      );
      if (like) throw new CredentialNotAdded(`The application has this trust already: ${like.id}.`);
      const now = () => 'now()';
      const row = {
        ...trust,
        keys: [...(trust.keys ?? [])],
        workspace_id: workspaceId,
        client_id: clientId,
        issuer,
        subject,
        audience,
      };
      const fetched = { keys_at: now, attempted_at: now, state: 'READY', of_operator: true } as const;
      const waiting = { state: 'PENDING', of_operator: false } as const;
      await manager
        .createQueryBuilder()
        .insert()
        .into(ApplicationTrustRow)
        .values({ ...row, ...(trust.keys ? fetched : waiting) })
        .execute();
      await record('application.trust_added', changesOf(null, named));
      return this.trustsOf(manager, clientId);
    });
  }

  /** Removes a trust and ends the live token. Returns the other trusts, or undefined when there is no such trust. */
  async remove(clientId: string, id: string): Promise<ListedTrust[] | null | undefined> {
    const left = await this.credentials.change(clientId, async ({ manager, record }) => {
      const removed = (await this.trustsOf(manager, clientId)).find((trust) => trust.id === id);
      if (!removed) return undefined;
      await manager.delete(ApplicationTrustRow, { client_id: clientId, id });
      await manager.update(ApplicationRow, { client_id: clientId }, END_TOKEN);
      const { issuer, subject, audience } = removed;
      await record('application.trust_removed', changesOf({ issuer, subject, audience }, null));
      return this.trustsOf(manager, clientId);
    });
    if (left) await this.grants.invalidate(clientId);
    return left;
  }

  /**
   * Keeps newer key sets, by the ids of their trusts. A set that an operator gave leaves an event. Returns all trusts, or
   * undefined when one of them is gone.
   */
  async refresh(
    clientId: string,
    sets: ReadonlyMap<string, readonly ClientKey[]>,
    thumbprintsOf: (keys: readonly ClientKey[]) => Promise<string[]>,
    endToken: boolean,
  ): Promise<ListedTrust[] | null | undefined> {
    const trusts = await this.credentials.change(clientId, async ({ manager, record }) => {
      for (const [id, keys] of sets) {
        const before = await manager.findOneBy(ApplicationTrustRow, { client_id: clientId, id });
        if (!before) return undefined;
        const now = () => 'now()';
        const fresh = { keys: [...keys], state: 'READY', failure: null, keys_at: now, attempted_at: now } as const;
        await manager.update(ApplicationTrustRow, { client_id: clientId, id }, fresh);
        if (!before.given) continue;
        const thumbprints = { old: await thumbprintsOf(before.keys), new: await thumbprintsOf(keys) };
        await record('application.trust_replaced', { thumbprints });
      }
      if (endToken) await manager.update(ApplicationRow, { client_id: clientId }, END_TOKEN);
      return this.trustsOf(manager, clientId);
    });
    if (trusts && endToken) await this.grants.invalidate(clientId);
    return trusts;
  }

  private async trustsOf(manager: EntityManager, clientId: string): Promise<ListedTrust[]> {
    const order = { created_at: 'ASC', id: 'ASC' } as const;
    const rows = await manager.find(ApplicationTrustRow, { where: { client_id: clientId }, order });
    return rows.map(({ id, state, failure, issuer, subject, audience, given, insecure, ...row }) => ({
      ...{ id, state, failure, issuer, subject, audience: audience ?? this.settings.baseUrl, given },
      ...{ fetchedAt: given ? null : row.keys_at, createdAt: row.created_at, lastUsedAt: row.last_used_at },
      source: { issuer, insecure, ofOperator: row.of_operator },
    }));
  }
}

type Named = Readonly<Record<'issuer' | 'subject' | 'audience', string>>;

const changesOf = (old: Named | null, fresh: Named | null) =>
  Object.fromEntries(
    (['issuer', 'subject', 'audience'] as const).map((member) => [
      member,
      { old: old?.[member] ?? null, new: fresh?.[member] ?? null },
    ]),
  );
