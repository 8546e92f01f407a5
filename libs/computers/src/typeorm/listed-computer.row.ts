import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

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

/** Part of a count of visible computers. */
@Entity('computer_count')
export class ComputerCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('smallint') kind!: number;
  @Column('bigint') key!: string;
  @Column('text') source!: string;
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  @Column('bigint') n!: string;
}
