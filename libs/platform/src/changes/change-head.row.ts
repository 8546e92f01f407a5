import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('change_head')
export class ChangeHeadRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @Column('bigint') sequence!: string;
  @Column('uuid') mark!: string;
  @Column('timestamptz') changed_at!: Date;
  @Column('bigint', { default: 0 }) purged_sequence!: string;
  @Column('bigint', { default: 0 }) restarted_sequence!: string;
}
