/** A tag of an asset or computer. */
export interface Tag {
  readonly key: string;
  readonly value: string;
  /** True for tags managed by the platform. */
  readonly readOnly: boolean;
}
