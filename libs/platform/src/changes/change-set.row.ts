import { Column, Entity, Generated, PrimaryColumn } from 'typeorm';

@Entity('change_set')
export class ChangeSetRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') sequence!: string;
  @Column('bigint') id!: string;
  @Column('uuid') @Generated('uuid') mark!: string;
  @Column('timestamptz') changed_at!: Date;
  @Column('smallint') origin!: number;
  /** Names the application; for another origin the operator or "person ID", which older sets lack. */
  @Column('text', { nullable: true }) client_id!: string | null;
  @Column('text', { nullable: true }) request_id!: string | null;
  @Column('boolean', { default: false }) emptied!: boolean;
}
