import { Column, Entity, Generated, PrimaryColumn } from 'typeorm';

@Entity('change_set')
export class ChangeSetRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') sequence!: string;
  @Column('bigint') id!: string;
  @Column('uuid') @Generated('uuid') mark!: string;
  @Column('timestamptz') changed_at!: Date;
  @Column('smallint') origin!: number;
  /** Of the application; of another origin the operator or "person ID", null in sets from before that was recorded. */
  @Column('text', { nullable: true }) client_id!: string | null;
  @Column('text', { nullable: true }) request_id!: string | null;
  @Column('boolean', { default: false }) emptied!: boolean;
}
