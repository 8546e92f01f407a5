import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MapLibrary } from './map-library.system';

const RECORD = 'record: {externalId: id, name: name}';

describe('MapLibrary', () => {
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'compliance-api-maps-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const file = (name: string, yaml: string): string => {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, yaml);
    return path;
  };
  const faultOf = (name: string, yaml: string): string => {
    try {
      new MapLibrary().load(file(name, yaml));
    } catch (error) {
      return `${(error as Error).name} ${(error as Error).message.replaceAll(`${directory}/`, '')}`;
    }
    return 'no fault';
  };

  it.each([
    [
      'category: CUSTOM\nrecord:\n  externalId: id\n  name: name\n  nmae: name',
      'a.yaml:5: record.nmae is not a member of records.',
    ],
    [
      'category: CUSTOM\nrecord:\n  externalId: id\n  name: name\n  region: r',
      'a.yaml:5: record.region is not a member of CUSTOM records.',
    ],
    ['category: CUSTOM\nrecord:\n  externalId: id\n  name: name\n  categoryKey: r', 'a.yaml:5: record.categoryKey: '],
    ['category: CUSTOM\nrecord:\n  externalId: id\n\n  name: $firstOf([', 'a.yaml:5: record.name: does not parse: '],
    [`category: a.(\n${RECORD}`, 'a.yaml:1: category: does not parse: '],
    [`items: a.(\ncategory: CUSTOM\n${RECORD}`, 'a.yaml:1: items: does not parse: '],
    [`category: CUSTOM\n${RECORD}\nitmes: a`, 'a.yaml:3: itmes is not a member of a map.'],
    ['category: CUSTOM\nrecord: {name: [x]}', 'a.yaml:2: record.name must be an expression, which is a text.'],
    ['category: CUSTOM\nrecord: x', 'a.yaml:2: record must name members and their expressions.'],
    [RECORD, 'A map needs category.'],
    ['category: CUSTOM\nrecord: {externalId: id}', 'A map needs record.name.'],
    ['category: CUSTOM\ncategory: CUSTOM', 'a.yaml:2: Map keys must be unique'],
    ['category: [', 'a.yaml:1: '],
    ['- a', 'a.yaml:1: A map must be a YAML mapping.'],
    [`extends: nowhere\n${RECORD}`, 'a.yaml:1: extends: There is no map nowhere.'],
    [`extends: a\n${RECORD}`, 'a.yaml:1: extends: There is no map a.'],
    [
      'a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]',
      'a.yaml',
    ],
  ])('refuses a faulty map and names file, line and member: %j', (yaml, fault) => {
    const told = faultOf('a.yaml', yaml);

    expect(told).toContain(fault);
    expect(told).toMatch(/^MapInvalid /);
  });

  it('tells every fault at once', () => {
    const told = faultOf('a.yaml', 'category: CUSTOM\nrecord: {externalId: "(", name: ")", x: y}');

    expect(told).toMatch(/record\.externalId: .*record\.name: .*record\.x is not/);
  });

  it('refuses a circle of extends', () => {
    file('b.yaml', 'extends: c');
    file('c.yaml', 'extends: a');

    expect(faultOf('a.yaml', 'extends: b')).toBe(
      'MapInvalid c.yaml:1: extends: a.yaml extends b.yaml extends c.yaml extends a.yaml, in a circle.',
    );
  });

  it('takes single members from the map that extends another one, and drops those that it says null for', async () => {
    file(
      'base.yaml',
      `category: COMPUTER\nitems: value\nrecord: {externalId: id, name: name, region: "'x'", managed: true}`,
    );
    const path = file('own.yaml', 'extends: base\ncategory: CUSTOM\nrecord: {name: title, region: null, managed: ~}');

    const map = new MapLibrary().load(path);

    expect([map.name, map.items]).toEqual(['own', { path: ['value'] }]);
    expect(await map.mapped({ id: 'a', name: 'n', title: 't' })).toEqual({
      value: { categoryKey: 'CUSTOM', externalId: 'a', name: 't' },
    });
  });

  it('looks beside the map, then in the directory, then among the ready ones', () => {
    const of = (item: string): string => `category: CUSTOM\n${RECORD}\nitems: ${item}`;
    const itemsOf = (): unknown => new MapLibrary(join(directory, 'own')).load(own).items;
    const own = file('here/own.yaml', 'extends: intune-devices');
    file('own/other.yaml', of('other'));

    expect(itemsOf()).toEqual({ path: ['value'] });
    file('own/intune-devices.yml', of('directory'));
    expect(itemsOf()).toEqual({ path: ['directory'] });
    file('here/intune-devices.yaml', of('beside'));
    expect(itemsOf()).toEqual({ path: ['beside'] });
  });

  it('lets a map extend the ready one of the same name', () => {
    const path = file('intune-devices.yaml', 'extends: intune-devices\nrecord: {osVersion: null}');

    expect(new MapLibrary().load(path).items).toEqual({ path: ['value'] });
    expect(new MapLibrary(directory).load('intune-devices').items).toEqual({ path: ['value'] });
  });

  it('lists and shows maps by name', () => {
    file('mine.yaml', `description: Mine\ncategory: CUSTOM\n${RECORD}`);
    const library = new MapLibrary(directory);

    expect(library.list()).toEqual(
      expect.arrayContaining([
        { name: 'mine', description: 'Mine', category: 'CUSTOM' },
        { name: 'intune-devices', description: expect.stringContaining('Intune') as string, category: null },
      ]),
    );
    expect(library.show('mine')).toEqual({ name: 'mine', yaml: `description: Mine\ncategory: CUSTOM\n${RECORD}` });
    expect(() => library.show('nothing')).toThrow('There is no map nothing.');
  });
});
