import type { ImportRecord } from '../domain/import-record';

/** What the records of a batch are about. */
export class NamedAssets {
  private readonly externalIds = new Set<string>();
  private readonly ids = new Set<string>();
  private employees = false;

  get size(): number {
    return this.externalIds.size;
  }

  has({ externalId, id }: ImportRecord): boolean {
    return this.externalIds.has(externalId) || (id !== null && this.ids.has(id));
  }

  add({ externalId, id, type }: ImportRecord): void {
    this.externalIds.add(externalId);
    if (id !== null) this.ids.add(id);
    this.employees ||= type === 'EMPLOYEE';
  }

  /** Whether it is the same which of the two comes first, these or those: only of employees do others speak. */
  isApartFrom(those: NamedAssets): boolean {
    if (this.employees || those.employees) return false;
    return isDisjoint(this.externalIds, those.externalIds) && isDisjoint(this.ids, those.ids);
  }

  clear(): void {
    this.externalIds.clear();
    this.ids.clear();
    this.employees = false;
  }
}

function isDisjoint(these: ReadonlySet<string>, those: ReadonlySet<string>): boolean {
  for (const one of these) if (those.has(one)) return false;
  return true;
}
