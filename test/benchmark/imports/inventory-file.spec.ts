import { inventoryOf } from './inventory-file';

describe('A generated inventory file', () => {
  const records = [...inventoryOf(5_000)];
  const employees = records.filter(({ categoryKey }) => categoryKey === 'EMPLOYEE');

  it('has the requested number of records, each once, and about one employee in twelve', () => {
    expect(records).toHaveLength(5_000);
    expect(employees).toHaveLength(400);
    expect(new Set(records.map(({ externalId }) => externalId)).size).toBe(5_000);
  });

  it('names only owners that it contains as visible employees', () => {
    const present = new Set(
      employees.filter(({ visibility }) => visibility !== 'HIDDEN').map(({ externalId }) => externalId),
    );
    const owners = records.flatMap(({ owner }) => owner ?? []);
    expect(owners.length).toBeGreaterThan(1_000);
    expect(owners.filter((owner) => !present.has(owner))).toEqual([]);
  });
});
