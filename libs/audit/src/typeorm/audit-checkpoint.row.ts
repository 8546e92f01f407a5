import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('audit_checkpoint')
export class AuditCheckpointRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') size!: string;
  @Column('bytea', { array: true }) roots!: Buffer[];
  @Column('uuid') last_event!: string;
  @Column({ type: 'timestamptz', precision: 3 }) recorded_at!: Date;
  @Column('boolean') is_floor!: boolean;
  @Column('bytea') mac!: Buffer;
}
