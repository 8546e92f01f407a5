import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

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
