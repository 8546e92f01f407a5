import type { AuditAct } from '#libs/audit/operators';
import { storable } from '#libs/kernel';
import { LONGEST_INDEXED } from '#libs/platform/lists';
import { serialOf } from '../domain/maps/map-functions';
import type { Refusal } from '../domain/import-store.port';
import { OWNERS } from './owner-statements';
import * as sql from './rekey-statements';
import type { AssetPage, StagingConnection } from './staging-connection';
import { NAME_WAITING_EMPLOYEES } from './waiting-statements';

interface NewComputer {
  readonly place: string;
  readonly external_id: string | null;
  readonly serial_number: string;
}
interface RekeyedPage {
  readonly last: string | null;
  readonly rekeyed: Readonly<Record<'public_id' | 'old_external_id' | 'external_id', string>>[];
}

export const rekeyedAct = (
  publicId: string,
  externalId: { readonly old: string | null; readonly new: string | null },
): Omit<AuditAct, 'actor'> => ({
  action: 'asset.rekeyed',
  target: { type: 'ASSET', id: publicId },
  changes: { externalId },
});

/** Null for what identifies no computer. A bad record may have anything there. */
function serialIn(value: unknown): string | null {
  if (typeof value !== 'string' && !Number.isSafeInteger(value)) return null;
  const serial = serialOf(storable(String(value)));
  return serial !== undefined && [...serial].length <= LONGEST_INDEXED ? serial : null;
}

/** Finds computers that were enrolled again: new ones with the serial number of one that the input no longer names. */
export class RekeyedComputers {
  constructor(
    private readonly connection: StagingConnection,
    private readonly strict: boolean,
  ) {}

  /** Returns their number. Changes no asset. */
  async find(): Promise<number> {
    const { client, workspaceId, source } = this.connection;
    await this.keepSerials();
    await client.query(sql.FIND_REKEYED, [workspaceId, source]);
    await client.query(sql.NAME_REKEYED);
    await this.forgetRefused();
    return (await this.connection.row<{ rekeyed: number }>(sql.COUNT_REKEYED)).rekeyed;
  }

  /** Finds those that may be such computers, for {@link refuseNext}. */
  async findLikely(): Promise<void> {
    const { client, workspaceId, source } = this.connection;
    await this.keepSerials();
    await client.query(sql.KEEP_LIKELY, [workspaceId, source]);
  }

  /** Removes the next of them from the records that wait. Returns none at the end. */
  async refuseNext(reason: string): Promise<Refusal[]> {
    return this.connection.refuse(sql.REFUSE_LIKELY, [reason]);
  }

  /** Computers with these serial numbers count as named. */
  async name(serials: readonly unknown[]): Promise<void> {
    const { client, workspaceId, source } = this.connection;
    const known = serials.map(serialIn).filter((serial) => serial !== null);
    if (known.length > 0) await client.query(sql.NAME_SERIALS, [workspaceId, source, known]);
  }

  /** Remembers the serial numbers of new computers, all of which are joined at once, unlike a batch. */
  private async keepSerials(): Promise<void> {
    const { client, workspaceId, source } = this.connection;
    for (let after = '-1'; ;) {
      const { rows } = await client.query<NewComputer>(sql.NEW_COMPUTERS, [workspaceId, source, after]);
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.place;
      const computers = rows.map((row) => ({ ...row, serial: serialIn(row.serial_number) }));
      await client.query(sql.KEEP_SERIALS, [JSON.stringify(computers)]);
    }
    await client.query('SET LOCAL enable_hashjoin = on');
  }

  /** The records of these will be refused for their owners, so their assets stay as they are. */
  private async forgetRefused(): Promise<void> {
    const { client, workspaceId, source, dryRun } = this.connection;
    const forget = (refused: string) => client.query(sql.forgetRekeyed(refused), [workspaceId, source]);
    await client.query(NAME_WAITING_EMPLOYEES);
    await client.query(sql.STAGE_REKEYED);
    const { withTwoOwners, unowned } = OWNERS[dryRun ? 'planned' : 'real'];
    await forget(withTwoOwners);
    if (this.strict) await forget(unowned);
  }

  /** Gives the next of them after this id their new externalId. */
  async rekey(after: string): Promise<AssetPage> {
    const { workspaceId, changeSetId } = this.connection;
    const { last, rekeyed } = await this.connection.row<RekeyedPage>(sql.REKEY, [workspaceId, after, changeSetId]);
    for (const { public_id, old_external_id, external_id } of rekeyed) {
      await this.connection.record(rekeyedAct(public_id, { old: old_external_id, new: external_id }));
    }
    this.connection.noteChange(rekeyed.length > 0);
    return { last, found: rekeyed.length };
  }
}
