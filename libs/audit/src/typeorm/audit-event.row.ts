import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RecordedEvent } from '../domain/audit-event';

@Entity('audit_event')
export class AuditEventRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column({ type: 'timestamptz', precision: 3 }) occurred_at!: Date;
  @Column('uuid') asset_id!: string;
  @Column('uuid') application_id!: string;
  @Column('text') client_id!: string;
  @Column('text') request_id!: string;
  @Column('text') key_hash!: string;
  @Column('jsonb') changes!: RecordedEvent['changes'];
  @Column('bigint', { nullable: true }) anchor_sequence!: string | null;
  @Column('bytea', { nullable: true }) anchor_link!: Buffer | null;
  @Column('bytea') mac!: Buffer;
  @Column('bigint', { nullable: true }) sequence!: string | null;
  @Column('bytea', { nullable: true }) link!: Buffer | null;
}
