import type { AssetId } from './branded-ids';

/** The owner of an asset or computer: a visible employee. */
export interface Owner {
  readonly id: AssetId;
  readonly name: string;
  readonly email: string | null;
}

/** A tag of an asset or computer. */
export interface Tag {
  readonly key: string;
  readonly value: string;
  /** True for tags managed by the platform. */
  readonly readOnly: boolean;
}
