import type { AssetId } from './branded-ids';

/** What is read beside an item. */
export type Expand = 'owner';

/** What is read of the past: the instant, to the millisecond. */
export interface ThenRequest {
  readonly asOf: Date;
  readonly expand?: Expand | undefined;
}

/** The owner of an asset or computer: a visible employee. */
export interface Owner {
  readonly id: AssetId;
  readonly name: string;
  readonly email: string | null;
}
