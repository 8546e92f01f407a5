import { WRITTEN_FIELDS, mergedTags } from '../../assets/typeorm/asset.row';

/** Columns of asset that a record sets directly. */
const PLAIN_COLUMNS = [
  'sub_key',
  'visibility',
  'name',
  'last_checked_at',
  'account_id',
  'region',
  'serial_number',
  'operating_system',
  'os_version',
  'email',
  'contains_patient_data',
  'contains_user_data',
  'user_data_info',
] as const;

/** An imported value, unless a client has set the field. */
const keptOr = ({ bit }: { readonly bit: number }, kept: string, imported: string): string =>
  `CASE WHEN asset.api_set & ${bit} <> 0 THEN ${kept} ELSE ${imported} END`;

export const NAMES_OWNER = 'COALESCE(m.owner_external_id, m.owner_public_id::text, m.owner_email) IS NOT NULL';

/** New values of an existing asset: column → expression over `asset` and `m`, the matched record. */
export const BECOMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PLAIN_COLUMNS.map((column) => [column, `m.${column}`])),
  classification: keptOr(WRITTEN_FIELDS.classification, 'asset.classification', 'm.classification'),
  description: keptOr(WRITTEN_FIELDS.description, 'asset.description', 'm.description'),
  owner_id: keptOr(
    WRITTEN_FIELDS.ownerId,
    'asset.owner_id',
    `CASE WHEN m.owner_id IS NULL AND ${NAMES_OWNER} THEN asset.owner_id ELSE m.owner_id END`,
  ),
  owner_source: keptOr(
    WRITTEN_FIELDS.ownerId,
    'asset.owner_source',
    `CASE WHEN m.owner_id IS NULL THEN CASE WHEN ${NAMES_OWNER} THEN asset.owner_source END
          WHEN asset.owner_id = m.owner_id THEN asset.owner_source ELSE 3 END`,
  ),
  created_at: 'COALESCE(m.created_at, asset.created_at)',
  tags: keptOr(WRITTEN_FIELDS.tags, mergedTags('asset.tags', 'm.tags'), 'm.tags'),
};
export const MERGED_COLUMNS = Object.keys(BECOMES);
export const changesOf = (becomes: typeof BECOMES, of = MERGED_COLUMNS): string =>
  `ROW(${of.map((column) => `asset.${column}`).join(', ')}) IS DISTINCT FROM ROW(${of.map((column) => becomes[column]).join(', ')})`;

export const COMPUTER_COLUMNS = [
  'managed',
  'agent_version',
  'antivirus_installed',
  'disk_encryption_enabled',
  'password_manager_installed',
  'screen_lock_enabled',
];
export const computerOf = (row: string): string => COMPUTER_COLUMNS.map((column) => `${row}.${column}`).join(', ');
