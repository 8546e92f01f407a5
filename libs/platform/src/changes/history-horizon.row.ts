import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('history_horizon')
export class HistoryHorizonRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @Column('timestamptz') begins_at!: Date;
}
