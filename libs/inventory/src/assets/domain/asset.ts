import { type AssetId, DomainError, type InputFault, type Owner, type Tag } from '#libs/kernel';
import type { AssetType } from './asset-category';

/** In Unicode code points. */
export const MAX_DESCRIPTION_LENGTH = 500;

export const CLASSIFICATIONS = ['UNKNOWN', 'PUBLIC', 'INTERNAL', 'CONFIDENTIAL'] as const;
/** An unclassified asset reads `UNKNOWN`. */
export type Classification = (typeof CLASSIFICATIONS)[number];

export const OWNER_SOURCES = ['MANUAL', 'API', 'INTEGRATION', 'RULE'] as const;
export type OwnerSource = (typeof OWNER_SOURCES)[number];

export const COMPLETE_STATUSES = ['COMPLETE', 'INCOMPLETE'] as const;
export type CompleteStatus = (typeof COMPLETE_STATUSES)[number];

/** Known contents of an information or custom asset. */
export interface DataStored {
  readonly containsPatientData: boolean | null;
  readonly containsUserData: boolean | null;
  readonly userDataInfo: string | null;
}

/** A visible asset of the inventory. Members of other categories are null. */
export interface Asset {
  readonly id: AssetId;
  readonly type: AssetType;
  readonly name: string;
  readonly classification: Classification;
  /** Null when absent, never empty. */
  readonly description: string | null;
  readonly ownerId: AssetId | null;
  /** Only where it was asked for. Null without an owner, and when the owner is no visible employee. */
  readonly owner?: Owner | null;
  /** Null exactly when there is no owner. */
  readonly ownerSource: OwnerSource | null;
  readonly externalId: string;
  /** The import source that `externalId` belongs to. */
  readonly source: string;
  readonly createdAt: Date;
  /** When the last visible change was made. A check-in that moves only `lastCheckedAt` is none. */
  readonly updatedAt: Date;
  readonly lastCheckedAt: Date | null;
  /** Sorted by the code points of the key. */
  readonly tags: readonly Tag[];
  readonly dataStored: DataStored | null;
  readonly accountId: string | null;
  readonly region: string | null;
  readonly serialNumber: string | null;
  readonly operatingSystem: string | null;
  readonly osVersion: string | null;
  readonly email: string | null;
  /** Increases with every change of the asset. */
  readonly version: number;
}

/** Derived and never stored: COMPLETE exactly when the asset has an owner (specification, States and transitions). */
export function completeStatusOf(asset: Pick<Asset, 'ownerId'>): CompleteStatus {
  return asset.ownerId === null ? 'INCOMPLETE' : 'COMPLETE';
}

/** The asset is unknown, hidden, deleted or another workspace's. Clients cannot tell these apart. */
export class AssetNotFound extends DomainError {
  constructor() {
    super('not_found', 'No asset has this id.');
  }
}

/** Employees are read-only here: another system owns them. */
export class AssetNotWritable extends DomainError {
  constructor(ids: readonly string[], faults: readonly InputFault[] = []) {
    const shown = ids.slice(0, 5).join(', ');
    super('resource_not_writable', `Employees cannot be updated: ${shown}. Nothing was applied.`, faults);
  }
}

/** The asset has changed since the client read it. */
export class AssetChangedMeanwhile extends DomainError {
  constructor() {
    super('precondition_failed', 'The asset has another version than If-Match names.');
  }
}

/** The assets of an update hold too much for the memory of an instance. */
export class AssetsTooLarge extends DomainError {
  constructor() {
    super('payload_too_large', 'These assets have more than 10 MB of tags. Update fewer at once. Nothing was applied.');
  }
}
