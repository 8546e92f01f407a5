import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('workspace')
export class WorkspaceRow {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') slug!: string;
  @Column('text') name!: string;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
}
