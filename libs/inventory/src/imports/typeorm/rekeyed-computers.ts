import type { AuditAct, AuditRecorder } from '#libs/audit/operators';
import { LONGEST_INDEXED } from '../../assets/typeorm/asset.row';
import { serialOf } from '../domain/maps/map-functions';
import type { AssetPage } from './missing-assets';
import * as sql from './rekey-statements';
import type { StagingConnection } from './staging-connection';

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
    private readonly connection: StagingConnection,
    private readonly audit: AuditRecorder,
  ) {}

  /** Returns their number. Changes no asset. */
  async find(): Promise<number> {
    const { client, workspaceId, source } = this.connection;
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
    return (await this.connection.row<{ rekeyed: number }>(sql.COUNT_REKEYED)).rekeyed;
  }

  /** Gives the next of them after this id their new externalId. */
  async rekey(after: string): Promise<AssetPage> {
    const { client, workspaceId, changeSetId } = this.connection;
    const values = [workspaceId, after, changeSetId];
    const { last, rekeyed } = await this.connection.row<{ last: string | null; rekeyed: RekeyedAsset[] }>(
      sql.REKEY,
      values,
    );
    for (const { public_id, old_external_id, external_id } of rekeyed) {
      const act = rekeyedAct('IMPORT', public_id, { old: old_external_id, new: external_id });
      await this.audit.record(workspaceId, act, (text, bound) => client.query(text, bound));
    }
    this.connection.noteChange(rekeyed.length > 0);
    return { last, found: rekeyed.length };
  }
}
