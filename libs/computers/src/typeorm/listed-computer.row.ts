import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A visible computer by what filters look for. */
@Entity('listed_computer')
export class ListedComputerRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') id!: string;
  @Column('smallint') posture!: number;
  @Column('uuid', { nullable: true }) owner_id!: string | null;
  @Column('text') source!: string;
  @Column('timestamptz', { nullable: true }) last_checked_at!: Date | null;
}
