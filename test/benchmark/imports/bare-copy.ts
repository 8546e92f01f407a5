import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { WorkspaceId } from '#libs/kernel';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { BenchmarkDatabase } from '../benchmark-database';

/** Columns that a bare COPY needs to create the same asset rows. */
const COLUMNS = `public_id, source, external_id, sub_key, visibility, classification, owner_source, owner_id, created_at,
  last_checked_at, name, description, tags, account_id, region, serial_number, operating_system, os_version, email,
  contains_patient_data, contains_user_data, user_data_info`;

/** Writes a workspace's assets to a file for {@link copyIn}. */
export async function copyOut({ admin }: BenchmarkDatabase, workspace: WorkspaceId, path: string): Promise<void> {
  const rows = `SELECT ${COLUMNS} FROM asset WHERE workspace_id = '${workspace}' ORDER BY id`;
  const client = await admin.connect();
  await pipeline(client.query(copyTo(`COPY (${rows}) TO STDOUT`)), createWriteStream(path));
  client.release();
}

/**
 * Copies the file into the same table, with all indexes, constraints and triggers, in one statement. Returns the number
 * of rows.
 */
export async function copyIn({ admin }: BenchmarkDatabase, workspace: WorkspaceId, path: string): Promise<number> {
  const client = await admin.connect();
  await client.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
  await client.query(`ALTER TABLE asset ALTER workspace_id SET DEFAULT '${workspace}'`);
  const copy = client.query(copyFrom(`COPY asset (${COLUMNS}) FROM STDIN`));
  await pipeline(createReadStream(path), copy);
  await client.query('ALTER TABLE asset ALTER workspace_id DROP DEFAULT');
  client.release();
  return copy.rowCount;
}
