import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('workspace')
export class WorkspaceRow {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') slug!: string;
  @Column('text') name!: string;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
  /** The first instant of the history that can be asked for. The inventory moves it. */
  @Column('timestamptz', { default: () => `date_trunc('milliseconds', now())` }) history_begins_at!: Date;
}
