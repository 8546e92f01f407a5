import { schema } from '../../apps/whole-schema';

describe('The parts of the schema', () => {
  it('have migrations with unique timestamps, which order them', () => {
    const names = schema.flatMap(({ migrations }) => migrations.map(({ name }) => name));
    const timeOf = (name: string): string => name.slice(-13);

    for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z]+\d{13}$/);
    const sharing = names.filter((name) => names.some((other) => other !== name && timeOf(other) === timeOf(name)));
    expect(sharing).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });
});
