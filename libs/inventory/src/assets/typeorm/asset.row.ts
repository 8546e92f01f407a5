import { type Tag, assetId } from '#libs/kernel';
import { type TextRow, columnList, toBoolean, toOwner, withOwner } from '#libs/platform/database';
import { isIndexed } from '#libs/platform/lists';
import { Column, Entity, Generated, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { type Asset, CLASSIFICATIONS, OWNER_SOURCES } from '../domain/asset';
import { ASSET_TYPES, type AssetType } from '../domain/asset-category';
import { type PatchField, customerTags } from '../domain/asset-patch';

@Entity('asset')
export class AssetRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  @Column('uuid') @Generated('uuid') public_id!: string;
  @Column('smallint') sub_key!: number;
  @Column('text') name!: string;
  @Column('smallint', { default: 0 }) classification!: number;
  @Column('text', { nullable: true }) description!: string | null;
  @Column('uuid', { nullable: true }) owner_id!: string | null;
  @Column('smallint', { nullable: true }) owner_source!: number | null;
  @Column('text') external_id!: string;
  @Column('text') source!: string;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at!: Date;
  @Column('timestamptz', { nullable: true }) last_checked_at!: Date | null;
  @Column('jsonb', { default: [] }) tags!: Tag[];
  @Column('boolean', { nullable: true }) contains_patient_data!: boolean | null;
  @Column('boolean', { nullable: true }) contains_user_data!: boolean | null;
  @Column('text', { nullable: true }) user_data_info!: string | null;
  @Column('text', { nullable: true }) account_id!: string | null;
  @Column('text', { nullable: true }) region!: string | null;
  @Column('text', { nullable: true }) serial_number!: string | null;
  @Column('text', { nullable: true }) operating_system!: string | null;
  @Column('text', { nullable: true }) os_version!: string | null;
  @Column('text', { nullable: true }) email!: string | null;
  @Column('integer', { default: 1 }) version!: number;
  @Column('smallint', { default: 0 }) visibility!: number;
  @Column('smallint', { default: 0 }) api_set!: number;
  @Column('bigint') change_id!: string;
  /** The change of an erased employee. The state that it made is kept as erased when that state ends. */
  @Column('bigint', { nullable: true }) erased_change_id!: string | null;
  /** Null for other assets than computers. Whoever writes a row of `computer` writes it: see computer.row.ts. */
  @Column('smallint', { nullable: true }) posture!: number | null;
  /** Postgres computes it. */
  @Column({ type: 'smallint', nullable: true, insert: false, update: false }) facet!: number | null;
}

@Entity('asset_tag')
export class AssetTagRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') asset_id!: string;
  @PrimaryColumn('bigint') tag_key_id!: string;
  @Column('text', { nullable: true }) value!: string | null;
}

/** Returns the number in `asset.sub_key`. Migration 1780000000010 defines the numbers. */
export const subKeyOf = (type: AssetType): number => ASSET_TYPES.indexOf(type) + 1;

/** The last cloud sub key. The index `asset_cloud_facet` of migration 1780000000010 ends there, too. */
export const LAST_CLOUD = subKeyOf('CLOUD_OTHER');
export const COMPUTER = subKeyOf('COMPUTER');
export const EMPLOYEE = subKeyOf('EMPLOYEE');

/** By ICU. By the locale of the database, C would know the letters of ASCII alone. */
export const lowerCase = (text: string): string => `lower(${text} COLLATE "und-x-icu")`;

/** An employee with this address, in any letter case. The index is of the collation, which takes more texts for equal. */
export const emailIs = (value: string): string =>
  `(sub_key = ${EMPLOYEE} AND email COLLATE case_blind = ${value} AND ${lowerCase('email')} = ${lowerCase(value)}
    AND ${isIndexed('email')})`;

const HIDDEN = ['workspace_id', 'visibility', 'api_set', 'change_id', 'erased_change_id', 'posture', 'facet'] as const;

/** Columns as {@link toAsset} reads them, and the place of each. */
export const ASSET_COLUMNS = columnList(AssetRow, HIDDEN);
const { at: AT } = ASSET_COLUMNS;
/** The same with the owner, behind `page`. */
export const EXPANDED_ASSET_COLUMNS = withOwner(ASSET_COLUMNS);
/** In a statement. */
export const SELECTED = ASSET_COLUMNS.selected.join(', ');

/**
 * Reads an asset from a row of {@link ASSET_COLUMNS}. Codes are small integers in the table (see the comments on its
 * columns).
 */
export function toAsset(row: TextRow): Asset {
  const type = ASSET_TYPES[Number(row[AT.sub_key]) - 1];
  const classification = CLASSIFICATIONS[Number(row[AT.classification])];
  if (type === undefined || classification === undefined) throw new Error('An asset holds a code that is not known.');
  const ownerId = row[AT.owner_id];
  const ownerSource = row[AT.owner_source];
  const lastCheckedAt = row[AT.last_checked_at];
  return {
    id: assetId(row[AT.public_id] as string),
    type,
    name: row[AT.name] as string,
    classification,
    description: row[AT.description] || null,
    ownerId: ownerId ? assetId(ownerId) : null,
    ownerSource: ownerSource ? (OWNER_SOURCES[Number(ownerSource) - 1] ?? null) : null,
    externalId: row[AT.external_id] as string,
    source: row[AT.source] as string,
    createdAt: new Date(Number(row[AT.created_at])),
    updatedAt: new Date(Number(row[AT.updated_at])),
    lastCheckedAt: lastCheckedAt ? new Date(Number(lastCheckedAt)) : null,
    tags: JSON.parse(row[AT.tags] as string) as Tag[],
    dataStored: toDataStored(row[AT.contains_patient_data], row[AT.contains_user_data], row[AT.user_data_info]),
    accountId: row[AT.account_id] ?? null,
    region: row[AT.region] ?? null,
    serialNumber: row[AT.serial_number] ?? null,
    operatingSystem: row[AT.operating_system] ?? null,
    osVersion: row[AT.os_version] ?? null,
    email: row[AT.email] ?? null,
    version: Number(row[AT.version]),
  };
}

/** Reads an asset with its owner from a row of {@link EXPANDED_ASSET_COLUMNS}. A copy would take longer than the reading. */
export const toExpandedAsset = (row: TextRow): Asset =>
  Object.assign(toAsset(row), { owner: toOwner(row[EXPANDED_ASSET_COLUMNS.at.owner]) });

type Value = TextRow[number] | undefined;

/** Returns null when nothing is known. */
function toDataStored(patientData: Value, userData: Value, userDataInfo: Value): Asset['dataStored'] {
  if (patientData == null && userData == null && userDataInfo == null) return null;
  return {
    containsPatientData: toBoolean(patientData),
    containsUserData: toBoolean(userData),
    userDataInfo: userDataInfo ?? null,
  };
}

interface WrittenColumn {
  readonly column: keyof AssetRow;
  readonly type: string;
  readonly value: (asset: Asset) => unknown;
}

/** Imports keep a field whose bit of asset.api_set is set (interfaces, Import format). */
interface WrittenField {
  readonly bit: number;
  readonly columns: readonly WrittenColumn[];
}

/** Tags of the customer from one expression and those of the platform from another, sorted by the code points of the key. */
export const mergedTags = (ofCustomer: string, ofPlatform: string): string => `COALESCE((
  SELECT jsonb_agg(tag ORDER BY tag->>'key' COLLATE "C") FROM (
    SELECT tag FROM jsonb_array_elements(${ofCustomer}) AS customer (tag) WHERE NOT (tag->>'readOnly')::boolean
    UNION ALL SELECT tag FROM jsonb_array_elements(${ofPlatform}) AS platform (tag) WHERE (tag->>'readOnly')::boolean
  ) AS both_kinds), '[]')`;

/** The fields that clients write. Any other column belongs to the asset's source. */
export const WRITTEN_FIELDS = {
  classification: {
    bit: 4,
    columns: [
      {
        column: 'classification',
        type: 'smallint',
        value: ({ classification }) => CLASSIFICATIONS.indexOf(classification),
      },
    ],
  },
  description: { bit: 2, columns: [{ column: 'description', type: 'text', value: ({ description }) => description }] },
  ownerId: {
    bit: 1,
    columns: [
      { column: 'owner_id', type: 'uuid', value: ({ ownerId }) => ownerId },
      {
        column: 'owner_source',
        type: 'smallint',
        value: ({ ownerSource }) => ownerSource && OWNER_SOURCES.indexOf(ownerSource) + 1,
      },
    ],
  },
  tags: { bit: 8, columns: [{ column: 'tags', type: 'jsonb', value: customerTags }] },
} satisfies Record<PatchField, WrittenField>;

/** The fields with their names, in the order in which an update writes them. */
export const EACH_WRITTEN_FIELD = Object.entries(WRITTEN_FIELDS) as (readonly [PatchField, WrittenField])[];
export const WRITTEN_COLUMNS = EACH_WRITTEN_FIELD.flatMap(([, { columns }]) => columns);
