import { CLASSIFICATIONS } from '../../assets/domain/asset';
import { type ImportRecord, VISIBILITIES } from '../domain/import-record';
import type { NumberedRecord } from '../domain/import-store.port';
import { subKeyOf } from '../../assets/typeorm/asset.row';
import { byCodePoints } from '../../tag-keys/domain/tag-key';

/** A tag key as an import needs it. */
export interface KnownTagKey {
  readonly id: string;
  readonly value: string | null;
  readonly platform: boolean;
}

/** Columns of the staging table with their types, in the order of {@link toCopyLine}. */
export const STAGING_COLUMNS = `
  place bigint, external_id text, wanted_id uuid, sub_key smallint, visibility smallint,
  classification smallint, name text, description text, owner_external_id text, owner_public_id uuid,
  owner_email text,  created_at timestamptz, last_checked_at timestamptz, tags jsonb, tag_key_ids bigint[], tag_values text[],
  account_id text, region text, serial_number text, operating_system text, os_version text, email text,
  contains_patient_data boolean, contains_user_data boolean, user_data_info text, managed boolean,
  agent_version text, antivirus_installed boolean, disk_encryption_enabled boolean,
  password_manager_installed boolean, screen_lock_enabled boolean, kept text`;

export const STAGED = STAGING_COLUMNS.split(',')
  .map((column) => column.trim().split(' ')[0])
  .join(', ');

const NULL = '\\N';
const TO_ESCAPE = /[\\\n\r\t]/;

/** Returns one line of COPY's text format (PostgreSQL manual, COPY). */
export function toCopyLine({ place, record, kept }: NumberedRecord, tagKeys: ReadonlyMap<string, KnownTagKey>): string {
  const { dataStored, compliance } = record;
  const tags = record.tags.length === 0 ? NO_TAGS : renderTags(record, tagKeys);
  // One expression instead of a list of cells: this runs for millions of lines.
  return (
    `${place}\t${text(record.externalId)}\t${record.id ?? NULL}\t${subKeyOf(record.type)}` +
    `\t${VISIBILITIES.indexOf(record.visibility)}\t${CLASSIFICATIONS.indexOf(record.classification)}` +
    `\t${text(record.name)}\t${text(record.description)}` +
    `\t${text(record.owner)}\t${record.ownerId ?? NULL}\t${text(record.ownerEmail)}` +
    `\t${time(record.createdAt)}\t${time(record.lastCheckedAt)}\t${tags}` +
    `\t${text(record.accountId)}\t${text(record.region)}\t${text(record.serialNumber)}` +
    `\t${text(record.operatingSystem)}\t${text(record.osVersion)}\t${text(record.email)}` +
    `\t${flag(dataStored.containsPatientData)}\t${flag(dataStored.containsUserData)}\t${text(dataStored.userDataInfo)}` +
    `\t${flag(record.managed)}\t${text(compliance.agentVersion)}\t${flag(compliance.antivirusInstalled)}` +
    `\t${flag(compliance.diskEncryptionEnabled)}\t${flag(compliance.passwordManagerInstalled)}` +
    `\t${flag(compliance.screenLockEnabled)}\t${text(kept)}\n`
  );
}

function text(value: string | null): string {
  if (value === null) return NULL;
  if (!TO_ESCAPE.test(value)) return value;
  return value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t');
}

const time = (value: Date | null): string => (value === null ? NULL : value.toISOString());

const flag = (value: boolean | null): string => (value === null ? NULL : value ? 't' : 'f');

const NO_TAGS = '[]\t{}\t{}';

/**
 * Returns three cells: the tags as an asset shows them, sorted by code points, and as rows of asset_tag. All keys are
 * known by now.
 */
function renderTags({ tags }: ImportRecord, tagKeys: ReadonlyMap<string, KnownTagKey>): string {
  const sorted = tags.length === 1 ? tags : [...tags].sort((first, second) => byCodePoints(first.key, second.key));
  let [rendered, keyIds, values] = ['', '', ''];
  for (const { key, value } of sorted) {
    const tagKey = tagKeys.get(key);
    if (!tagKey) throw new Error('A tag key was not looked up.');
    // A customer tag always has its key's value. A platform tag has it when the record gives none.
    const own = tagKey.platform ? (value ?? tagKey.value) : null;
    const shown = own ?? tagKey.value ?? '';
    const comma = rendered === '' ? '' : ',';
    rendered += `${comma}{"key":${JSON.stringify(key)},"value":${JSON.stringify(shown)},"readOnly":${tagKey.platform}}`;
    keyIds += comma + tagKey.id;
    values += comma + (own === null ? 'NULL' : `"${own.replace(/["\\]/g, '\\$&')}"`);
  }
  return `${text(`[${rendered}]`)}\t{${keyIds}}\t${text(`{${values}}`)}`;
}
