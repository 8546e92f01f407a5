/** A record for the import, an item that the map leaves out, or the reason why the item gives no record. */
export type MappedItem =
  | { readonly value: Readonly<Record<string, unknown>> }
  | { readonly leftOut: true }
  /** `externalId` and `serialNumber` name the asset. They are absent when their own expressions failed. */
  | { readonly fault: string; readonly externalId?: string; readonly serialNumber?: string };

/** The place of the items in a document: a path, which is read as a stream, or an expression that finds them. */
export type ItemsOfMap = { readonly path: readonly string[] } | ItemsByExpression;

export interface ItemsByExpression {
  find(document: unknown): Promise<unknown>;
  /** Members of the document that the expression reads. Null where it may read any. */
  readonly reads: readonly string[] | null;
}

/** A checked map, ready for use. */
export interface RecordMap {
  readonly name: string;
  /** Its file before those that it extends. */
  readonly files: readonly string[];
  /** Null: the document is one record, a list of items or NDJSON. */
  readonly items: ItemsOfMap | null;
  /** Paths of the members of records that it may set. */
  readonly members: readonly string[];
  /** Returns the external id that an item has, or a promise of it; anything else when it has none. */
  idOf(item: unknown): unknown;
  mapped(item: unknown): Promise<MappedItem>;
}

/** A map that cannot be used. Each fault names file, line and member. */
export class MapInvalid extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join(' '));
    this.name = 'MapInvalid';
  }
}
