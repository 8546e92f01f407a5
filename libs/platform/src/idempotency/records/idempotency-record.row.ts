import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SchemaPart } from '../../database/schema/schema-part';
import { IdempotencyRecords1780000000011 } from './migrations/1780000000011-idempotency-records';

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

export const idempotencySchema: SchemaPart = {
  entities: [IdempotencyRecordRow],
  migrations: [IdempotencyRecords1780000000011],
  grants: [
    { table: 'idempotency_record', privileges: 'SELECT, INSERT, DELETE' },
    { function: 'purge_idempotency_records' },
  ],
};
