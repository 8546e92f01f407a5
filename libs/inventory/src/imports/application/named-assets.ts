import type { ImportRecord } from '../domain/import-record';

/** Remembers what a batch names, for finding out whether it depends on the batch before it. */
export class NamedAssets {
  private readonly ids = new Set<string>();
  private employees = false;
  private owners = false;

  has({ id }: ImportRecord): boolean {
    return id !== null && this.ids.has(id);
  }

  add({ id, type, ownerId, owner, ownerEmail }: ImportRecord): void {
    if (id !== null) this.ids.add(id);
    this.employees ||= type === 'EMPLOYEE';
    this.owners ||= (ownerId ?? owner ?? ownerEmail) !== null;
  }

  /**
   * Tells whether this batch may begin before the batch before it ends. Records refer to other records only as owners, and
   * owners are employees.
   */
  canOverlap(those: NamedAssets): boolean {
    if (this.owners && those.employees) return false;
    for (const id of this.ids) if (those.ids.has(id)) return false;
    return true;
  }
}
