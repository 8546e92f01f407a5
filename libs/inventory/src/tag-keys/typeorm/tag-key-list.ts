import { columnList, withColumn } from '#libs/platform/database';
import { equals, listOf } from '#libs/platform/lists';
import type { CountedTagKey } from '../domain/tag-key';
import { TagKeyRow } from './tag-key.row';

const COLUMNS = withColumn(
  columnList(TagKeyRow, ['workspace_id', 'created_at']),
  'asset_count',
  '(SELECT coalesce(sum(n), 0) FROM tag_count WHERE workspace_id = $1 AND tag_key_id = page.id)',
);
const { at: AT } = COLUMNS;

/** The start of a key that a position holds. A key may be longer than a cursor. */
const POSITION_LENGTH = 100;

/** Sorted by code points. A page begins behind the key of its position; if that key is gone, behind its start. */
const ORDER = {
  by: 'key COLLATE "C"',
  position: `id || ' ' || left(key, ${POSITION_LENGTH})`,
  start: '0 ',
  after: (position: string) => `coalesce(
    (SELECT key FROM tag_key WHERE workspace_id = $1 AND id = split_part(${position}, ' ', 1)::bigint),
    substr(${position}, strpos(${position}, ' ') + 1)) COLLATE "C"`,
};

export const TAG_KEY_LIST = listOf({
  name: 'tag_key_list',
  relation: 'tag_key',
  columns: COLUMNS,
  order: ORDER,
  filters: { readOnly: equals('platform', 'boolean') },
  toItem: (row): CountedTagKey => ({
    key: row[AT.key] as string,
    value: row[AT.value] ?? null,
    platform: row[AT.platform] === 't',
    assetCount: Number(row[AT.asset_count]),
  }),
});
