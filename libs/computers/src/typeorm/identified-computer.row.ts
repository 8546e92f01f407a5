import { ViewColumn, ViewEntity } from 'typeorm';

/** A visible computer by its identifiers. */
@ViewEntity({ name: 'identified_computer', synchronize: false })
export class IdentifiedComputerRow {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() id!: string;
  @ViewColumn() source!: string;
  @ViewColumn() external_id!: string;
  @ViewColumn() serial_number!: string | null;
}
