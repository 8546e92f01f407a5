import { ViewColumn, ViewEntity } from 'typeorm';
import { VisibleComputerRow } from './visible-computer.row';

/** Computers that are removed too: their facet is null. */
@ViewEntity({ name: 'changed_computer', synchronize: false })
export class ChangedComputerRow extends VisibleComputerRow {
  @ViewColumn() change_id!: string;
  @ViewColumn() sub_key!: number;
  @ViewColumn() facet!: number | null;
}
