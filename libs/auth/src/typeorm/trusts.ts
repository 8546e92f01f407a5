import { Injectable } from '@nestjs/common';
import { Settings } from '#libs/platform/config';
import { type EntityManager, In } from 'typeorm';
import type { PersonOfConsole } from '../domain/application';
import type { ClientKey } from '../domain/client-assertion';
import type { TrustedIssuer } from '../domain/trusted-issuer';
import { ApplicationTrustRow } from './application-trust.row';
import { CredentialNotAdded } from './client-keys';
import { ApplicationChanges } from './application-changes';

const MOST_TRUSTS = 10;

/** A trust of an application, as operators see it. */
export interface ListedTrust extends Readonly<Pick<ApplicationTrustRow, Listed>> {
  readonly audience: string;
  /** The last good fetch. Null for a set that an operator gave. */
  readonly fetchedAt: Date | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly source: TrustedIssuer;
}
type Listed = 'id' | 'state' | 'failure' | 'issuer' | 'subject' | 'given';

export interface NewTrust extends Readonly<Pick<ApplicationTrustRow, Added>> {
  /** Null for a trust of the console, which waits until a background worker fetched its keys. */
  readonly keys: readonly ClientKey[] | null;
}
type Added = 'issuer' | 'subject' | 'audience' | 'insecure' | 'given';

/** Issuers whose tokens prove applications. For operators only. A change acts on the next token request of every instance. */
@Injectable()
export class Trusts {
  constructor(
    private readonly credentials: ApplicationChanges,
    private readonly settings: Settings,
  ) {}

  /** The trusts of the person's workspace alone. Changes are acts of the person, who uses the console. */
  asPerson(person: PersonOfConsole): Trusts {
    return new Trusts(this.credentials.asPerson(person), this.settings);
  }

  /** Returns the trusts, oldest first. Null for an unknown client id, like the methods below. */
  async list(clientId: string): Promise<ListedTrust[] | null> {
    return this.credentials.read(clientId, (manager) => this.trustsOf(manager, clientId));
  }

  /** Returns all trusts. @throws {@link CredentialNotAdded} */
  async add(clientId: string, { keys, ...trust }: NewTrust): Promise<ListedTrust[] | null> {
    return this.credentials.change(clientId, async ({ manager, application: { workspace_id }, record }) => {
      const present = await this.trustsOf(manager, clientId);
      if (present.length >= MOST_TRUSTS) {
        throw new CredentialNotAdded('issuer', `An application has at most ${MOST_TRUSTS} trusts.`);
      }
      const named = { ...trust, audience: trust.audience ?? this.settings.baseUrl };
      const like = present.find((one) => NAMED.every((member) => one[member] === named[member]));
      if (like) throw new CredentialNotAdded('issuer', `The application has this trust already: ${like.id}.`);
      const row = { ...trust, workspace_id, client_id: clientId };
      await manager.insert(ApplicationTrustRow, { ...row, ...(keys && { ...ready(keys), of_operator: true }) });
      await record('application.trust_added', changesOf(null, named));
      return this.trustsOf(manager, clientId);
    });
  }

  /** Removes a trust and ends the live token. Returns the other trusts, or undefined when there is no such trust. */
  async remove(clientId: string, id: string): Promise<ListedTrust[] | null | undefined> {
    return this.credentials.changeGrant(clientId, async ({ manager, endToken, record }) => {
      const present = await this.trustsOf(manager, clientId);
      const removed = present.find((trust) => trust.id === id);
      if (!removed) return undefined;
      await manager.delete(ApplicationTrustRow, { client_id: clientId, id });
      await endToken();
      await record('application.trust_removed', changesOf(removed, null));
      return present.filter((trust) => trust.id !== id);
    });
  }

  /**
   * Keeps newer key sets, by the ids of their trusts. A set that an operator gave leaves an event, and so does the end of the
   * token. Returns all trusts, or undefined when none of these is there any more. One that is gone stays gone.
   */
  async refresh(
    clientId: string,
    sets: ReadonlyMap<string, readonly ClientKey[]>,
    thumbprintsOf: (keys: readonly ClientKey[]) => Promise<string[]>,
    endToken: boolean,
  ): Promise<ListedTrust[] | null | undefined> {
    return this.credentials.changeGrant(clientId, async ({ manager, record, ...change }) => {
      const present = await manager.findBy(ApplicationTrustRow, { client_id: clientId, id: In([...sets.keys()]) });
      if (present.length === 0) return undefined;
      for (const { id, given, keys: old, ...trust } of present) {
        const keys = sets.get(id) ?? [];
        await manager.update(ApplicationTrustRow, { client_id: clientId, id }, ready(keys));
        const thumbprints = { old: await thumbprintsOf(old), new: await thumbprintsOf(keys) };
        const named = { ...trust, audience: trust.audience ?? this.settings.baseUrl };
        if (given || endToken) await record('application.trust_replaced', { ...changesOf(named, named), thumbprints });
      }
      if (endToken) await change.endToken();
      return this.trustsOf(manager, clientId);
    });
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

/** No two trusts of an application are alike in all of these. */
const NAMED = ['issuer', 'subject', 'audience'] as const;
type Named = Readonly<Record<(typeof NAMED)[number], string>>;

const changesOf = (old: Named | null, fresh: Named | null) =>
  Object.fromEntries(NAMED.map((member) => [member, { old: old?.[member] ?? null, new: fresh?.[member] ?? null }]));

const now = () => 'now()';
const ready = (keys: readonly ClientKey[]) =>
  ({ keys, state: 'READY', failure: null, keys_at: now, attempted_at: now }) as const;
