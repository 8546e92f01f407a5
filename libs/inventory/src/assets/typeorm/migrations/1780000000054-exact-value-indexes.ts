import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/**
 * The visible assets of a source in the order of the id, by facet, apart for cloud assets and others, and by type and
 * facet. The visible assets of a name, a serial number and an e-mail address, by facet. Texts of more than 256
 * characters are left out, because no filter asks for them and an entry may not be longer than 2,704 bytes.
 */
const INDEXES = {
  asset_source_facet: '(workspace_id, source, facet, (sub_key <= 11), id) WHERE facet IS NOT NULL',
  asset_source_sub_key: '(workspace_id, source, sub_key, facet, id) WHERE facet IS NOT NULL',
  asset_name: byFacet('name'),
  asset_serial_number: byFacet('serial_number'),
  asset_email: byFacet('email'),
};

export class ExactValueIndexes1780000000054 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES)) {
      await buildIndexConcurrently(runner, name, `asset ${definition}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX ${Object.keys(INDEXES).join(', ')}`);
  }
}

function byFacet(column: string): string {
  return `(workspace_id, ${column} COLLATE "C", facet, id) WHERE facet IS NOT NULL AND char_length(${column}) <= 256`;
}
