import type { SchemaPart } from '../../database/schema/schema-part';
import { IdempotencyRecordRow } from './idempotency-record.row';
import { IdempotencyRecords1780000000011 } from './migrations/1780000000011-idempotency-records';

export const idempotencySchema: SchemaPart = {
  entities: [IdempotencyRecordRow],
  migrations: [IdempotencyRecords1780000000011],
  grants: [
    { table: 'idempotency_record', privileges: 'SELECT, INSERT, DELETE' },
    { function: 'purge_idempotency_records' },
  ],
};
