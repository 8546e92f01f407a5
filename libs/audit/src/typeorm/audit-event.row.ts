import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RecordedEvent } from '../domain/audit-event';

@Entity('audit_event')
export class AuditEventRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column({ type: 'timestamptz', precision: 3 }) occurred_at!: Date;
  /** Null, like the types and the target's id, for updates of assets. */
  @Column('text', { nullable: true }) action!: string | null;
  @Column('text', { nullable: true }) actor_type!: string | null;
  /** Empty for applications. Null in events from before this column. */
  @Column('text', { nullable: true }) actor_name!: string | null;
  @Column('text', { nullable: true }) target_type!: string | null;
  @Column('text', { nullable: true }) target_id!: string | null;
  @Column('uuid', { nullable: true }) asset_id!: string | null;
  @Column('uuid', { nullable: true }) application_id!: string | null;
  @Column('text', { nullable: true }) client_id!: string | null;
  @Column('text', { nullable: true }) request_id!: string | null;
  @Column('text', { nullable: true }) key_hash!: string | null;
  @Column('jsonb') changes!: RecordedEvent['changes'];
  /** Like the anchor's link and the event's, only in events of release 1.0.0. */
  @Column('bigint', { nullable: true }) anchor_sequence!: string | null;
  @Column('bytea', { nullable: true }) anchor_link!: Buffer | null;
  @Column('bytea') mac!: Buffer;
  @Column('bigint', { nullable: true }) sequence!: string | null;
  @Column('bytea', { nullable: true }) link!: Buffer | null;
}
