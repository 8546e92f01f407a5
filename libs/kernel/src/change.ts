/** Authors of changes. An extensible list: clients must accept types that they do not know. */
export type ChangeOrigin =
  | { readonly type: 'API'; readonly clientId: string; readonly requestId: string }
  | { readonly type: 'IMPORT' }
  | { readonly type: 'OPERATOR' }
  | { readonly type: 'PERSON'; readonly personId: string };

export const CHANGE_ORIGINS = [
  'API',
  'IMPORT',
  'OPERATOR',
  'PERSON',
] as const satisfies readonly ChangeOrigin['type'][];

/** The latest change of one item, with the state that it led to. */
export interface Change<Id, Item> {
  readonly id: Id;
  /** The time of the commit, in milliseconds. It never falls within a workspace. */
  readonly changedAt: Date;
  readonly origin: ChangeOrigin;
  /** Null for a tombstone: the item is hidden or deleted. */
  readonly item: Item | null;
}

/** A state of one item, from the change that made it to the one that ended it. */
export interface HistoryEntry<Item> {
  readonly validFrom: Date;
  /** Null for the present state. */
  readonly validTo: Date | null;
  /** Author of the change that made it. Null where that is not known. */
  readonly origin: ChangeOrigin | null;
  /** The operator or "person ID" behind an origin that is no application. Null where that is not known. */
  readonly who: string | null;
  /** Null while the item was hidden or deleted. */
  readonly item: Item | null;
  /** The state before it in time. Null where there is none, and where the item was hidden or deleted. */
  readonly before: Item | null;
}

/** A reader of a change feed begins with one of these. */
export type FeedStart =
  /** Every visible item, then what changes. */
  | { readonly kind: 'beginning' }
  /** Only what changes from now on. */
  | { readonly kind: 'now' }
  /** Changes at this time or after it. */
  | { readonly kind: 'since'; readonly since: Date }
  /** The position of an earlier page. */
  | { readonly kind: 'position'; readonly position: string };

/** One page of a change feed. It may be shorter than asked for although more follows. */
export interface ChangePage<Entry> {
  readonly changes: readonly Entry[];
  /** Start of the next page. */
  readonly position: string;
  readonly hasMore: boolean;
}
