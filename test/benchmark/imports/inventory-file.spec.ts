import { inventoryOf } from './inventory-file';

describe('An inventory to import', () => {
  const records = [...inventoryOf(5_000)];
  const employees = records.filter(({ categoryKey }) => categoryKey === 'EMPLOYEE');

  it('has as many records as asked for, one employee in twelve or so, each record once', () => {
    expect(records).toHaveLength(5_000);
    expect(employees).toHaveLength(400);
    expect(new Set(records.map(({ externalId }) => externalId)).size).toBe(5_000);
  });

  it('has only owners who are in it and have not left', () => {
    const present = new Set(
      employees.filter(({ visibility }) => visibility !== 'HIDDEN').map(({ externalId }) => externalId),
    );
    const owners = records.flatMap(({ owner }) => owner ?? []);
    expect(owners.length).toBeGreaterThan(1_000);
    expect(owners.filter((owner) => !present.has(owner))).toEqual([]);
  });
});
