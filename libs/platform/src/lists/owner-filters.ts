import type { ListDeclaration, ListFilter } from './declaration';

type OwnerFilter = 'ownerGone' | 'ownerHere';

/**
 * Finds rows whose owner is no longer a visible employee, and those whose owner is one. The view `hidden_employee` of the
 * inventory shows the employees who left, who are few: a total of the other rows is all owned ones less theirs.
 */
export function ownerFilters({
  relation,
  visible = 'true',
  cells,
  hasOwner,
}: Pick<ListDeclaration<unknown, string>, 'relation' | 'visible' | 'cells'> & {
  /** SQL over the columns of cells. */
  readonly hasOwner: string;
}): Record<OwnerFilter, ListFilter> {
  const { columns = [], counter = '' } = cells ?? {};
  const cell = columns.join(', ');
  // An array makes Postgres look up each of them, whatever it expects.
  const isGone = 'owner_id = ANY (ARRAY(SELECT owner_id FROM hidden_employee WHERE workspace_id = $1))';
  return {
    ownerGone: { type: 'boolean', condition: (value) => `(${value} AND ${isGone})` },
    ownerHere: {
      type: 'boolean',
      condition: (value) => `(${value} AND ${hasOwner} AND NOT EXISTS (
        SELECT FROM hidden_employee AS hidden WHERE hidden.workspace_id = $1 AND hidden.owner_id = ${relation}.owner_id))`,
      counter: {
        table: `(
          SELECT workspace_id, ${cell}, n FROM ${counter} WHERE ${hasOwner}
          UNION ALL
          SELECT workspace_id, ${cell}, -1 FROM ${relation} WHERE workspace_id = $1 AND ${visible} AND ${isGone}) AS owned`,
        key: null,
        condition: (value) => value,
      },
    },
  };
}

/** The filters of {@link ownerFilters} that a client's filter means. */
export const ownerFiltersOf = (ownerVisible: boolean | undefined): { readonly [Name in OwnerFilter]?: true } =>
  ownerVisible === undefined ? {} : ownerVisible ? { ownerHere: true } : { ownerGone: true };
