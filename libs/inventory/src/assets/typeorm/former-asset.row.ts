import type { Tag } from '#libs/kernel';
import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn, ViewColumn, ViewEntity } from 'typeorm';

/** The columns of `asset` that a former state keeps, the agent version of a computer, and when the state was. */
abstract class FormerColumns {
  @Column('uuid') public_id!: string;
  @Column('smallint') sub_key!: number;
  @Column('text') name!: string;
  @Column('smallint') classification!: number;
  @Column('text', { nullable: true }) description!: string | null;
  @Column('uuid', { nullable: true }) owner_id!: string | null;
  @Column('smallint', { nullable: true }) owner_source!: number | null;
  @Column('text') external_id!: string;
  @Column('text') source!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
  @Column('timestamptz', { nullable: true }) last_checked_at!: Date | null;
  @Column('jsonb') tags!: Tag[];
  @Column('boolean', { nullable: true }) contains_patient_data!: boolean | null;
  @Column('boolean', { nullable: true }) contains_user_data!: boolean | null;
  @Column('text', { nullable: true }) user_data_info!: string | null;
  @Column('text', { nullable: true }) account_id!: string | null;
  @Column('text', { nullable: true }) region!: string | null;
  @Column('text', { nullable: true }) serial_number!: string | null;
  @Column('text', { nullable: true }) operating_system!: string | null;
  @Column('text', { nullable: true }) os_version!: string | null;
  @Column('text', { nullable: true }) email!: string | null;
  @Column('integer') version!: number;
  @Column('smallint', { nullable: true }) posture!: number | null;
  @Column('smallint', { nullable: true }) facet!: number | null;
  @Column('text', { nullable: true }) agent_version!: string | null;
  /** The change set that made the state, and the one that ended it. */
  @Column('bigint') from_change!: string;
  @Column('bigint') to_change!: string;
}

/** A former state of an asset. A trigger on `asset` writes it: see migration 1780000000095. */
@Entity('asset_version')
export class AssetVersionRow extends FormerColumns {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') asset_id!: string;
  /** The order of the states of one asset: the lock of its row makes writers take turns. */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
}

/** A former state under the names of the asset's row: `id` is the asset's. */
@ViewEntity({ name: 'former_asset', synchronize: false })
export class FormerAssetRow extends FormerColumns {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() id!: string;
  @ViewColumn() version_id!: string;
}

/** All assets, visible or not, for the history of any feature. */
@ViewEntity({ name: 'known_asset', synchronize: false })
export class KnownAssetRow {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() id!: string;
  @ViewColumn() public_id!: string;
  @ViewColumn() change_id!: string;
  @ViewColumn() facet!: number | null;
  @ViewColumn() name!: string;
  @ViewColumn() email!: string | null;
  @ViewColumn() is_employee!: boolean;
}
