import { ASSET_TYPES } from '../domain/asset-category';
import { CLASSIFICATIONS } from '../domain/asset';
import { type ImportRecord, VISIBILITIES } from '../domain/import-record';
import type { NumberedRecord } from '../domain/import-store.port';
import { byCodePoints } from '../domain/tag-key';

/** A tag key as an import needs it. */
export interface KnownTagKey {
  readonly id: string;
  readonly value: string | null;
  readonly platform: boolean;
}

/** Columns of the staging table with their types, in the order that {@link toCopyLine} writes them. */
export const STAGING_COLUMNS = [
  ['place', 'bigint'],
  ['external_id', 'text'],
  ['wanted_id', 'uuid'],
  ['sub_key', 'smallint'],
  ['visibility', 'smallint'],
  ['classification', 'smallint'],
  ['name', 'text'],
  ['description', 'text'],
  ['owner_external_id', 'text'],
  ['owner_public_id', 'uuid'],
  ['created_at', 'timestamptz'],
  ['last_checked_at', 'timestamptz'],
  ['tags', 'jsonb'],
  ['tag_key_ids', 'bigint[]'],
  ['tag_values', 'text[]'],
  ['account_id', 'text'],
  ['region', 'text'],
  ['serial_number', 'text'],
  ['operating_system', 'text'],
  ['os_version', 'text'],
  ['email', 'text'],
  ['contains_patient_data', 'boolean'],
  ['contains_user_data', 'boolean'],
  ['user_data_info', 'text'],
  ['managed', 'boolean'],
  ['agent_version', 'text'],
  ['antivirus_installed', 'boolean'],
  ['disk_encryption_enabled', 'boolean'],
  ['password_manager_installed', 'boolean'],
  ['screen_lock_enabled', 'boolean'],
] as const;

type Cell = string | number | boolean | null;

const NULL = '\\N';
const TO_ESCAPE = /[\\\n\r\t]/;

/** One line of COPY's text format (PostgreSQL manual, COPY). */
export function toCopyLine({ place, record }: NumberedRecord, tagKeys: ReadonlyMap<string, KnownTagKey>): string {
  const { owner, dataStored, compliance } = record;
  const tags = renderTags(record, tagKeys);
  const cells: Cell[] = [
    place,
    record.externalId,
    record.id,
    ASSET_TYPES.indexOf(record.type) + 1,
    VISIBILITIES.indexOf(record.visibility),
    CLASSIFICATIONS.indexOf(record.classification),
    record.name,
    record.description,
    owner && 'externalId' in owner ? owner.externalId : null,
    owner && 'id' in owner ? owner.id : null,
    record.createdAt?.toISOString() ?? null,
    record.lastCheckedAt?.toISOString() ?? null,
    tags.rendered,
    tags.keyIds,
    tags.values,
    record.accountId,
    record.region,
    record.serialNumber,
    record.operatingSystem,
    record.osVersion,
    record.email,
    dataStored.containsPatientData,
    dataStored.containsUserData,
    dataStored.userDataInfo,
    record.managed,
    compliance.agentVersion,
    compliance.antivirusInstalled,
    compliance.diskEncryptionEnabled,
    compliance.passwordManagerInstalled,
    compliance.screenLockEnabled,
  ];
  return `${cells.map(toCell).join('\t')}\n`;
}

function toCell(cell: Cell): string {
  if (cell === null) return NULL;
  if (typeof cell !== 'string') return String(cell);
  if (!TO_ESCAPE.test(cell)) return cell;
  return cell.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t');
}

/** The tags as an asset shows them, sorted by code points, and as the rows of asset_tag. Every key is known by now. */
function renderTags(
  record: ImportRecord,
  tagKeys: ReadonlyMap<string, KnownTagKey>,
): { readonly rendered: string; readonly keyIds: string; readonly values: string } {
  if (record.tags.length === 0) return { rendered: '[]', keyIds: '{}', values: '{}' };
  const sorted = [...record.tags].sort((first, second) => byCodePoints(first.key, second.key));
  const known = sorted.map(({ key, value }) => {
    const tagKey = tagKeys.get(key);
    if (!tagKey) throw new Error('A tag key was not looked up.');
    // A customer tag has its key's own value, whatever the record says.
    const own = tagKey.platform ? value : null;
    return {
      id: tagKey.id,
      key,
      own,
      shown: (tagKey.platform ? value : tagKey.value) ?? '',
      platform: tagKey.platform,
    };
  });
  return {
    rendered: JSON.stringify(known.map(({ key, shown, platform }) => ({ key, value: shown, readOnly: platform }))),
    keyIds: `{${known.map(({ id }) => id).join(',')}}`,
    values: `{${known.map(({ own }) => (own === null ? 'NULL' : `"${own.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`,
  };
}
