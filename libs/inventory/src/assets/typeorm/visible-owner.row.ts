import { ViewColumn, ViewEntity } from 'typeorm';

/** A visible employee as others show it. Migration 1780000000092 makes the view. */
@ViewEntity({ name: 'visible_owner', synchronize: false })
export class VisibleOwnerRow {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() owner_id!: string;
  /** JSON with `id`, `name` and `email`. */
  @ViewColumn() shown!: string;
}

/** A hidden employee, who may still own assets. Migration 1780000000125 makes the view. */
@ViewEntity({ name: 'hidden_employee', synchronize: false })
export class HiddenEmployeeRow {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() owner_id!: string;
}
