import type { BenchmarkDatabase } from '../benchmark-database';

/**
 * Takes change sets from a database: writes find a function that does nothing, and no index and no trigger of change
 * sets. They still draw an id from a sequence and store it in the row, which is part of the row's own write.
 */
export async function withoutTickets({ admin }: BenchmarkDatabase): Promise<void> {
  await admin.query(`
    CREATE OR REPLACE FUNCTION take_change_ticket(workspace uuid, set_id bigint, origin smallint, client_id text, request_id text)
      RETURNS void LANGUAGE sql AS '';
    DROP TRIGGER take_forgotten_insert_ticket ON asset;
    DROP TRIGGER take_forgotten_update_ticket ON asset;
    DROP INDEX asset_change`);
}
