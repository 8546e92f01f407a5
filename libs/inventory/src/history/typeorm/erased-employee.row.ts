import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('erased_employee')
export class ErasedEmployeeRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') asset_id!: string;
  @Column('bigint') change_id!: string;
}
