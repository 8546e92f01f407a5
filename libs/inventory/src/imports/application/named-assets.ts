import type { ImportRecord } from '../domain/import-record';

/** What the records of a batch are about, as far as batches can get in each other's way. */
export class NamedAssets {
  private readonly ids = new Set<string>();
  private employees = false;

  has({ id }: ImportRecord): boolean {
    return id !== null && this.ids.has(id);
  }

  add({ id, type }: ImportRecord): void {
    if (id !== null) this.ids.add(id);
    this.employees ||= type === 'EMPLOYEE';
  }

  /** Whether it is the same which of the two comes first, these or those: only of employees do others speak. */
  isApartFrom(those: NamedAssets): boolean {
    if (this.employees || those.employees) return false;
    for (const id of this.ids) if (those.ids.has(id)) return false;
    return true;
  }

  clear(): void {
    this.ids.clear();
    this.employees = false;
  }
}
