import type { ImportRecord } from '../domain/import-record';

/** The assets that a batch names, for finding out whether two batches conflict. */
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

  /**
   * Tells whether the order of two batches is irrelevant. Records refer to other records only as owners, and owners are
   * employees.
   */
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
