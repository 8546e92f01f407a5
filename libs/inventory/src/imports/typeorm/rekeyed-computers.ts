import type { AuditAct, AuditRecorder } from '#libs/audit/operators';
import type { WorkspaceId } from '#libs/kernel';
import type { PoolClient } from 'pg';
import { LONGEST_INDEXED } from '../../assets/typeorm/asset.row';
import { serialOf } from '../domain/maps/map-functions';
import * as sql from './rekey-statements';

interface NewComputer {
  readonly place: string;
  readonly external_id: string | null;
  readonly serial_number: string;
}
interface RekeyedAsset {
  readonly public_id: string;
  readonly old_external_id: string;
  readonly external_id: string;
}

export function rekeyedAct(
  actor: 'IMPORT' | 'OPERATOR',
  publicId: string,
  externalId: { readonly old: string | null; readonly new: string | null },
): AuditAct {
  return {
    action: 'asset.rekeyed',
    actor: { type: actor },
    target: { type: 'ASSET', id: publicId },
    changes: { externalId },
  };
}

/** Finds computers that were enrolled again: new ones with the serial number of one that the input no longer names. */
export class RekeyedComputers {
  constructor(
    private readonly client: PoolClient,
    private readonly workspaceId: WorkspaceId,
    private readonly source: string,
    private readonly audit: AuditRecorder,
  ) {}

  /** Returns their number. Changes no asset. */
  async find(): Promise<number> {
    const { client, workspaceId, source } = this;
    for (let after = '-1'; ;) {
      const { rows } = await client.query<NewComputer>(sql.NEW_COMPUTERS, [workspaceId, source, after]);
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.place;
      const computers = rows.map((row) => ({ serial: serialOf(row.serial_number), externalId: row.external_id }));
      const known = computers.filter(({ serial = '' }) => serial !== '' && [...serial].length <= LONGEST_INDEXED);
      await client.query(sql.KEEP_SERIALS, [
        known.map(({ serial }) => serial),
        known.map(({ externalId }) => externalId),
      ]);
    }
    await client.query(sql.FIND_REKEYED, [workspaceId, source]);
    await client.query(sql.NAME_REKEYED);
    const { rows } = await client.query<{ rekeyed: number }>(sql.COUNT_REKEYED);
    return rows[0]?.rekeyed ?? 0;
  }

  /** Gives the next of them their new externalId. `last` is null at the end. */
  async rekey(
    after: string,
    changeSetId: string,
  ): Promise<{ readonly last: string | null; readonly rekeyed: readonly RekeyedAsset[] }> {
    const values = [this.workspaceId, after, changeSetId];
    const { rows } = await this.client.query<{ last: string | null; rekeyed: RekeyedAsset[] }>(sql.REKEY, values);
    const { last = null, rekeyed = [] } = rows[0] ?? {};
    for (const { public_id, old_external_id, external_id } of rekeyed) {
      const act = rekeyedAct('IMPORT', public_id, { old: old_external_id, new: external_id });
      await this.audit.record(this.workspaceId, act, (text, bound) => this.client.query(text, bound));
    }
    return { last, rekeyed };
  }
}
