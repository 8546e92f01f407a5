import { COMPUTER, LAST_CLOUD } from '../../assets/typeorm/asset.row';
import { BECOMES, NAMES_OWNER, changesOf, computerOf } from './merged-columns';
import { LOOKUPS, OWNER_WAITS, PLANNED_LOOKUPS, onlyOneOf, ownersDiffer } from './owner-statements';

/** The work of a matched batch, so that steps without work can be skipped. */
const COUNTED = {
  refused: 'refusal IS NOT NULL',
  waiting: 'waits',
  created: 'is_new',
  changed: 'changed',
  retagged: 'retagged',
  tagged: `is_new AND tag_key_ids <> '{}'`,
  checked: 'checked',
  to_lock: 'changed OR checked',
};
export type Matched = Readonly<Record<keyof typeof COUNTED, number>>;
const COUNTS = `SELECT ${Object.entries(COUNTED)
  .map(([name, condition]) => `count(*) FILTER (WHERE ${condition})::int AS ${name}`)
  .join(', ')}`;

const IS_NEW = 'asset.id IS NULL';
/** It may be an asset of before under another externalId, which only the whole input tells. */
const MAY_BE_REKEYED = `${IS_NEW} AND s.sub_key = ${COMPUTER} AND s.serial_number IS NOT NULL`;
const ofStaged = (expression: string): string => expression.replace(/\bm\.(?!owner_id)/g, 's.');
const OWNER_MISSING = `m.owner_id IS NULL AND ${ofStaged(NAMES_OWNER)}`;
/** Beside an ownerId, an owner who comes later may be another employee. */
const waitsBy = ({ ownerByExternalId }: typeof LOOKUPS): string => `(${OWNER_MISSING}
  OR s.owner_public_id IS NOT NULL AND s.owner_external_id IS NOT NULL AND NOT EXISTS (${ownerByExternalId}))`;
const WAITS_FOR_WAITING = `m.owner_id IS NULL AND ${OWNER_WAITS}`;
const CHANGED = `asset.id IS NOT NULL AND ${ofStaged(changesOf(BECOMES))}`;
const CHECKED = `s.sub_key = ${COMPUTER} AND asset.id IS NOT NULL AND ROW(c.asset_id, ${computerOf('c')})
  IS DISTINCT FROM ROW(asset.id, ${computerOf('s')})`;
const refusalOf = (lookups: typeof LOOKUPS, isTaken: string): string => `CASE
  WHEN (asset.sub_key <= ${LAST_CLOUD}) <> (s.sub_key <= ${LAST_CLOUD}) OR asset.sub_key > ${LAST_CLOUD} AND asset.sub_key <> s.sub_key
    THEN 'The asset with this externalId is of another category.'
  WHEN asset.public_id <> s.wanted_id THEN 'The asset with this externalId has another id.'
  WHEN asset.id IS NULL AND s.wanted_id IS NOT NULL AND (${isTaken})
    THEN 'The id belongs to another asset.'
  WHEN ${ownersDiffer(lookups)}
    THEN 'owner and ownerId name different employees; give one.'
END`;

const IS_TAKEN = `
    (SELECT true FROM asset AS other WHERE other.workspace_id = $1 AND other.public_id = s.wanted_id LIMIT 1)`;

/** Skips records that equal the inventory; in most imports these are nearly all. */
const matchWith = (
  { ownerByExternalId, ownerById, ownersByEmail }: typeof LOOKUPS,
  externalId: string,
  refusal: string,
  waits: string,
): string => `
  -- $1 workspace, $2 source.
  WITH matched AS (
    INSERT INTO import_matched
    SELECT s.*, COALESCE(asset.id, nextval('asset_id_seq')), ${IS_NEW}, m.owner_id, ${refusal}, ${waits}, ${CHANGED},
           asset.id IS NOT NULL AND asset.tags IS DISTINCT FROM ${ofStaged(BECOMES['tags'] ?? '')},
           ${CHECKED}
      FROM import_staged AS s
      -- OFFSET 0 computes the id, and below the owner, once for a record. Within the key of an asset, a subquery uses no index.
      CROSS JOIN LATERAL (SELECT ${externalId} AS external_id OFFSET 0) AS named
      -- LIMIT 1 on a unique key only affects the plan: one index lookup per record, whatever the statistics say.
      LEFT JOIN LATERAL (
        SELECT * FROM asset WHERE workspace_id = $1 AND source = $2 AND external_id = named.external_id LIMIT 1
      ) AS asset ON true
      CROSS JOIN LATERAL (
        SELECT CASE
                 WHEN s.owner_public_id IS NOT NULL THEN (${ownerById})
                 WHEN s.owner_external_id IS NOT NULL THEN (${ownerByExternalId})
                 WHEN s.owner_email IS NOT NULL THEN (${onlyOneOf(ownersByEmail)})
               END AS owner_id
        OFFSET 0
      ) AS m
      LEFT JOIN LATERAL (
        SELECT * FROM computer WHERE s.sub_key = ${COMPUTER} AND workspace_id = $1 AND asset_id = asset.id LIMIT 1
      ) AS c ON true
     WHERE ${IS_NEW} OR ${waits} OR ${CHANGED} OR ${CHECKED} OR (${refusal}) IS NOT NULL
     ORDER BY s.place
    RETURNING refusal, waits, is_new, changed, retagged, checked, tag_key_ids
  ) ${COUNTS} FROM matched`;

/** `hold`: new computers wait, too, as they may be rekeyed. `release`: records wait only for owners who wait themselves. */
const eachStep = (lookups: typeof LOOKUPS, externalId: string, isTaken: string) => {
  const match = (waits: string): string => matchWith(lookups, externalId, refusalOf(lookups, isTaken), waits);
  return {
    hold: match(`(${waitsBy(lookups)} OR ${MAY_BE_REKEYED})`),
    wait: match(waitsBy(lookups)),
    release: match(WAITS_FOR_WAITING),
  };
};
/** In a dry run, a computer that would be rekeyed still has its old id. */
const PLANNED_ID = `COALESCE((SELECT old_external_id FROM import_rekeyed WHERE external_id = s.external_id), s.external_id)`;
const IS_PLANNED = '(SELECT true FROM import_planned WHERE public_id = s.wanted_id LIMIT 1)';
export const MATCH = {
  real: eachStep(LOOKUPS, 's.external_id', IS_TAKEN),
  planned: eachStep(PLANNED_LOOKUPS, PLANNED_ID, `${IS_TAKEN} OR ${IS_PLANNED}`),
};

/** Counts again after refused and waiting records were removed. */
export const COUNT_MATCHED = `${COUNTS} FROM import_matched`;

export const REFUSE = `DELETE FROM import_matched WHERE refusal IS NOT NULL RETURNING place, refusal AS reason, kept, serial_number`;
