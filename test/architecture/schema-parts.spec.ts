import { schema as adminSchema } from '../../apps/admin/src/schema';
import { schema as apiSchema } from '../../apps/api/src/schema';
import { schema as localSchema } from '../../apps/local/src/schema';

describe('The parts of the schema', () => {
  it('are the same for whoever migrates and for whoever asks whether that was done', () => {
    expect(adminSchema).toEqual(apiSchema);
    expect(localSchema).toEqual(apiSchema);
  });

  it('have migrations whose names end in a timestamp of their own, which orders them', () => {
    const names = apiSchema.flatMap(({ migrations }) => migrations.map(({ name }) => name));
    for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z]+\d{13}$/);
    expect(new Set(names.map((name) => name.slice(-13))).size).toBe(names.length);
  });
});
