import { schema } from '../../apps/features';

describe('The parts of the schema', () => {
  it('have migrations with unique timestamps, which order them', () => {
    const names = schema.flatMap(({ migrations }) => migrations.map(({ name }) => name));

    for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z]+\d{13}$/);
    expect(new Set(names.map((name) => name.slice(-13))).size).toBe(names.length);
  });
});
