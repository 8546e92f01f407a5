import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('idempotency_record')
export class IdempotencyRecordRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('uuid') application_id!: string;
  @PrimaryColumn('bytea') key_hash!: Buffer;
  @Column('bytea') fingerprint!: Buffer;
  @Column('smallint') status!: number;
  @Column('text') body!: string;
  @Column('text', { nullable: true }) entity_tag!: string | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
  @Column('timestamptz') expires_at!: Date;
}
