import {
  Column,
  Entity,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  ViewColumn,
  ViewEntity,
  getMetadataArgsStorage,
} from 'typeorm';
import { AssetRow } from './asset.row';

/**
 * A former state of an asset: the columns of its row, below, and these. A trigger on `asset` writes it, see migration
 * 1780000000096.
 */
@Entity('asset_version')
export class AssetVersionRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  /** The asset's. */
  @PrimaryColumn('bigint') id!: string;
  /** The order of the states of one asset: the lock of its row makes writers take turns. */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) version_id!: string;
  /** The change set that ended the state. */
  @Column('bigint') to_change!: string;
  @Column('text', { nullable: true }) agent_version!: string | null;
}
for (const { propertyName, options } of getMetadataArgsStorage().filterColumns(AssetRow)) {
  if (!options.primary) Column({ ...options, default: undefined })(AssetVersionRow.prototype, propertyName);
}

/** All assets, visible or not, for the history of any feature: what an owner shows. */
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

/** Their former states. */
@ViewEntity({ name: 'former_asset', synchronize: false })
export class FormerAssetRow extends KnownAssetRow {
  @ViewColumn() version_id!: string;
}
