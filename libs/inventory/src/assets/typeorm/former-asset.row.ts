import type { Tag } from '#libs/kernel';
import { ViewColumn, ViewEntity } from 'typeorm';

/** The place of a former state in the history of its asset. Migration 1780000000098 makes the views of this file. */
abstract class FormerRow {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() id!: string;
  @ViewColumn() version_id!: string;
  @ViewColumn() from_change!: string;
  @ViewColumn() to_change!: string;
  @ViewColumn() facet!: number | null;
}

/** A former state as the row that it was, with the agent version of a computer. */
@ViewEntity({ name: 'former_asset', synchronize: false })
export class FormerAssetRow extends FormerRow {
  @ViewColumn() public_id!: string;
  @ViewColumn() sub_key!: number;
  @ViewColumn() name!: string;
  @ViewColumn() classification!: number;
  @ViewColumn() description!: string | null;
  @ViewColumn() owner_id!: string | null;
  @ViewColumn() owner_source!: number | null;
  @ViewColumn() external_id!: string;
  @ViewColumn() source!: string;
  @ViewColumn() created_at!: Date;
  @ViewColumn() updated_at!: Date;
  @ViewColumn() last_checked_at!: Date | null;
  @ViewColumn() tags!: Tag[];
  @ViewColumn() contains_patient_data!: boolean | null;
  @ViewColumn() contains_user_data!: boolean | null;
  @ViewColumn() user_data_info!: string | null;
  @ViewColumn() account_id!: string | null;
  @ViewColumn() region!: string | null;
  @ViewColumn() serial_number!: string | null;
  @ViewColumn() operating_system!: string | null;
  @ViewColumn() os_version!: string | null;
  @ViewColumn() email!: string | null;
  @ViewColumn() version!: number;
  @ViewColumn() posture!: number | null;
  @ViewColumn() agent_version!: string | null;
}

/** A former state of an employee, as others show an owner. */
@ViewEntity({ name: 'former_owner', synchronize: false })
export class FormerOwnerRow extends FormerRow {
  @ViewColumn() shown!: string;
}

/** An employee, visible or not, as others show an owner. */
@ViewEntity({ name: 'known_owner', synchronize: false })
export class KnownOwnerRow {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() id!: string;
  @ViewColumn() public_id!: string;
  @ViewColumn() change_id!: string;
  @ViewColumn() facet!: number | null;
  @ViewColumn() shown!: string;
}

/** The ids of all assets, visible or not. */
@ViewEntity({ name: 'asset_place', synchronize: false })
export class AssetPlaceRow {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() id!: string;
}
