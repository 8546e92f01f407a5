import type { AssetId } from './branded-ids';

/** What is read beside an item. */
export type Expand = 'owner';

/** The owner of an asset or computer: a visible employee. */
export interface Owner {
  readonly id: AssetId;
  readonly name: string;
  readonly email: string | null;
}
