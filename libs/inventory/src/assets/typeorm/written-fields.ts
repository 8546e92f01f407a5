import { type Asset, CLASSIFICATIONS, OWNER_SOURCES } from '../domain/asset';
import type { PatchField } from '../domain/asset-patch';
import type { AssetRow } from './asset.row';

interface WrittenColumn {
  readonly column: keyof AssetRow;
  readonly type: string;
  readonly value: (asset: Asset) => string | null;
}

/** Imports keep a field whose bit of asset.api_set is set (interfaces, Import format). */
interface WrittenField {
  readonly bit: number;
  readonly columns: readonly WrittenColumn[];
}

/** The fields that clients write. Any other column belongs to the asset's source. */
export const WRITTEN_FIELDS = {
  classification: {
    bit: 4,
    columns: [
      {
        column: 'classification',
        type: 'smallint',
        value: ({ classification }) => String(CLASSIFICATIONS.indexOf(classification)),
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
        value: ({ ownerSource }) => ownerSource && String(OWNER_SOURCES.indexOf(ownerSource) + 1),
      },
    ],
  },
  tags: { bit: 8, columns: [{ column: 'tags', type: 'jsonb', value: ({ tags }) => JSON.stringify(tags) }] },
} satisfies Record<PatchField, WrittenField>;

/** The fields with their names, in the order in which an update writes them. */
export const EACH_WRITTEN_FIELD = Object.entries(WRITTEN_FIELDS) as (readonly [PatchField, WrittenField])[];
