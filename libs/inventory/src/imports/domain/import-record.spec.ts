import { parseImportRecord } from './import-record';

const COMPUTER = { categoryKey: 'COMPUTER', externalId: 'C02XK', name: 'ada-mbp' };
const reasons = (value: unknown): readonly string[] => parseImportRecord(value).reasons;

describe('An import record', () => {
  it('needs only category, name and external id, and is visible with unknown details', () => {
    expect(parseImportRecord(COMPUTER)).toMatchObject({
      record: {
        type: 'COMPUTER',
        visibility: 'ACTIVE',
        classification: 'UNKNOWN',
        description: null,
        owner: null,
        tags: [],
        managed: null,
        compliance: { antivirusInstalled: null },
      },
    });
  });

  it('treats null as absent and an empty description as none', () => {
    expect(
      parseImportRecord({ ...COMPUTER, owner: null, email: null, description: '', compliance: null }),
    ).toMatchObject({
      record: { owner: null, description: null },
    });
  });

  it.each([
    [null, 'The record is not an object.'],
    [[], 'The record is not an object.'],
    [{ ...COMPUTER, name: undefined }, 'name is required.'],
    [{ ...COMPUTER, externalId: '' }, 'externalId is required.'],
    [{ ...COMPUTER, externalId: 'é'.repeat(1025) }, 'externalId is longer than 2048 bytes.'],
    [
      { ...COMPUTER, categoryKey: 'SERVER' },
      'categoryKey must be one of CLOUD, COMPUTER, CUSTOM, INFORMATION, EMPLOYEE.',
    ],
    [{ ...COMPUTER, email: 'a@b' }, 'email is not a member of COMPUTER records.'],
    [{ ...COMPUTER, colour: 'red' }, 'colour is not a member of COMPUTER records.'],
    [{ ...COMPUTER, '': 'red' }, '"" is not a member of COMPUTER records.'],
    [{ ...COMPUTER, type: 'CUSTOM' }, 'type CUSTOM does not belong to categoryKey COMPUTER.'],
    [{ ...COMPUTER, categoryKey: 'CLOUD' }, 'type is required for CLOUD and must be one of the CLOUD_… types.'],
    [{ ...COMPUTER, categoryKey: 'CLOUD', type: 'CLOUD' }, /^type must be one of CLOUD_AUTOSCALE_GROUPS/],
    [{ ...COMPUTER, visibility: 'GONE' }, 'visibility must be one of ACTIVE, HIDDEN, DELETED.'],
    [{ ...COMPUTER, id: '17' }, 'id must be a UUID.'],
    [{ ...COMPUTER, managed: 'yes' }, 'managed must be true or false.'],
    [{ ...COMPUTER, compliance: { screenLockEnabled: 1 } }, 'compliance.screenLockEnabled must be true or false.'],
    [{ ...COMPUTER, compliance: { score: 5 } }, 'compliance.score is not a member.'],
    [{ ...COMPUTER, compliance: [] }, 'compliance must be an object.'],
    [{ ...COMPUTER, tags: {} }, 'tags must be an array.'],
    [{ ...COMPUTER, tags: ['env'] }, 'tags.0 must be an object.'],
    [{ ...COMPUTER, tags: [{ value: 'x' }] }, 'tags.0.key is required.'],
    [{ ...COMPUTER, tags: [{ key: 'k'.repeat(1001) }] }, 'tags.0.key is longer than 1000 characters.'],
    [{ ...COMPUTER, createdAt: '2026-02-30T00:00:00Z' }, /^createdAt must be a date-time/],
    [{ ...COMPUTER, createdAt: '2026-01-02' }, /^createdAt must be a date-time/],
    [{ ...COMPUTER, createdAt: '2026-01-02T03:04:05' }, 'createdAt has no offset from UTC, such as Z or +02:00.'],
    [{ ...COMPUTER, createdAt: '2026-01-02 03:04:05' }, 'createdAt has no offset from UTC, such as Z or +02:00.'],
    [{ ...COMPUTER, createdAt: '2026-01-02 24:00:00+00' }, /^createdAt must be a date-time/],
    [{ ...COMPUTER, createdAt: '2026-01-02T03:04:05.1234567890Z' }, /^createdAt must be a date-time/],
    [{ ...COMPUTER, createdAt: '2026-01-02T25:04:05Z' }, /^createdAt must be a date-time/],
    [{ ...COMPUTER, createdAt: '2026-01-02T24:00:00Z' }, /^createdAt must be a date-time/],
    [{ ...COMPUTER, lastCheckedAt: '2026-01-02T24:00Z' }, /^lastCheckedAt must be a date-time/],
    [{ ...COMPUTER, createdAt: '9999-12-31T23:59:59-14:00' }, /^createdAt must be a date-time/],
    [{ ...COMPUTER, createdAt: '0001-01-01T00:00:00+14:00' }, /^createdAt must be a date-time/],
    [{ ...COMPUTER, externalId: 17.5 }, 'externalId must be a string.'],
    [{ ...COMPUTER, externalId: 2 ** 53 }, 'externalId must be a string: the number is too large to be exact.'],
    [{ ...COMPUTER, externalId: 'a\u0000' }, 'externalId holds U+0000 or half of a surrogate pair.'],
    [{ ...COMPUTER, name: '\u0000' }, 'name is required.'],
    [{ ...COMPUTER, tags: [{ key: '' }] }, 'tags.0.key is required.'],
    [{ ...COMPUTER, categoryKey: '' }, 'categoryKey is required.'],
    [{ ...COMPUTER, categoryKey: 'CLOUD', type: '' }, /^type is required for CLOUD/],
    [{ ...COMPUTER, compliance: '' }, 'compliance must be an object.'],
    [{ ...COMPUTER, lastCheckedAt: '0001-01-01T25:00:00+01:00' }, /^lastCheckedAt must be a date-time/],
    [{ ...COMPUTER, lastCheckedAt: '9999-12-31T23:59:59-14:00' }, /^lastCheckedAt must be a date-time/],
    [{ ...COMPUTER, tags: [{ key: '\u0000' }] }, 'tags.0.key is required.'],
    [{ ...COMPUTER, createdAt: '0000-00-00T00:00:00Z' }, /^createdAt must be a date-time/],
    [{ ...COMPUTER, createdAt: '2026-01-02T03:04:05' }, 'createdAt has no offset from UTC, such as Z or +02:00.'],
    [{ ...COMPUTER, createdAt: '2026-01-02 03:04' }, 'createdAt has no offset from UTC, such as Z or +02:00.'],
  ])('is refused with %j', (value, reason) => {
    const found = reasons(value);
    expect(found.some((text) => (typeof reason === 'string' ? text === reason : reason.test(text)))).toBe(true);
  });

  describe('is imported with a warning when', () => {
    const AHEAD = new Date(Date.now() + 25 * 3_600_000).toISOString();
    const warned = (value: unknown) => {
      const { record, reasons: faults, warnings } = parseImportRecord(value);
      return { record, warnings: [...faults, ...warnings] };
    };

    it.each([
      ['name', 'n'.repeat(1001), 'n'.repeat(1000)],
      ['description', '👩'.repeat(501), '👩'.repeat(500)],
      ['osVersion', '1'.repeat(2001), '1'.repeat(2000)],
    ])('%s is too long, and is cut at whole code points', (member, value, expected) => {
      expect(warned({ ...COMPUTER, [member]: value })).toMatchObject({
        record: { [member]: expected },
        warnings: [`${member} is longer than ${[...expected].length} characters; the rest was cut off.`],
      });
    });

    it('a value of a tag is too long', () => {
      expect(warned({ ...COMPUTER, tags: [{ key: 'k', value: 'v'.repeat(256) }] })).toMatchObject({
        record: { tags: [{ key: 'k', value: 'v'.repeat(255) }] },
        warnings: ['tags.0.value is longer than 255 characters; the rest was cut off.'],
      });
    });

    it('an e-mail address is too long, and leaves it out', () => {
      const employee = { categoryKey: 'EMPLOYEE', externalId: 'hr-1', name: 'Ada', email: `${'a'.repeat(2000)}@x` };
      expect(warned(employee)).toMatchObject({
        record: { email: null },
        warnings: ['email is longer than 2000 characters, and was left out.'],
      });
    });

    it.each(['a\u0000b', 'a\ud800b', '\udc00ab'])('a text holds what no store keeps: %j', (name) => {
      expect(warned({ ...COMPUTER, name })).toMatchObject({
        record: { name: 'ab' },
        warnings: ['name held U+0000 or half of a surrogate pair, which was removed.'],
      });
    });

    it.each(['env\u0000', '\ud800env'])('a key of a tag holds what no store keeps: %j', (key) => {
      expect(warned({ ...COMPUTER, tags: [{ key }] })).toMatchObject({
        record: { tags: [{ key: 'env', value: null }] },
        warnings: ['tags.0.key held U+0000 or half of a surrogate pair, which was removed.'],
      });
    });

    it.each([
      ['1979-12-31T23:59:59Z', 'lastCheckedAt stands for "never", and was left out.'],
      ['0000-00-00T00:00:00Z', 'lastCheckedAt stands for "never", and was left out.'],
      ['0001-01-01T00:00:00+01:00', 'lastCheckedAt stands for "never", and was left out.'],
      ['0001-01-01 00:00:00 +0530', 'lastCheckedAt stands for "never", and was left out.'],
      ['2000-01-01T01:00:00+01:00', 'lastCheckedAt stands for "never", and was left out.'],
      [AHEAD, 'lastCheckedAt is more than 24 hours ahead, and was left out.'],
    ])('lastCheckedAt is %s', (lastCheckedAt, warning) => {
      expect(warned({ ...COMPUTER, lastCheckedAt })).toMatchObject({
        record: { lastCheckedAt: null },
        warnings: [warning],
      });
    });
  });

  it('takes without a word what loses nothing', () => {
    const employee = { categoryKey: 'EMPLOYEE', externalId: 17, name: 18, email: ' ada@example.com\n' };
    expect(parseImportRecord(employee)).toMatchObject({
      record: { externalId: '17', name: '18', email: 'ada@example.com' },
      warnings: [],
    });
    expect(
      parseImportRecord({
        ...COMPUTER,
        ...{
          serialNumber: ' C02 ',
          osVersion: '',
          owner: '',
          createdAt: '1970-01-01T00:00:00Z',
          description: '👩'.repeat(500),
        },
        lastCheckedAt: '2000-01-01T00:00:00.001Z',
      }),
    ).toMatchObject({
      record: {
        serialNumber: 'C02',
        osVersion: null,
        owner: null,
        createdAt: new Date(0),
        lastCheckedAt: new Date(946684800001),
      },
      warnings: [],
    });
  });

  it('does not know what is an empty text', () => {
    const empty = {
      ...{ id: '', type: '', visibility: '', classification: '', ownerId: '', createdAt: '', lastCheckedAt: '' },
      ...{ managed: '', compliance: { screenLockEnabled: '' }, tags: [{ key: 'env', value: '', readOnly: '' }] },
    };

    expect(parseImportRecord({ ...COMPUTER, ...empty })).toEqual({
      ...parseImportRecord({ ...COMPUTER, tags: [{ key: 'env', value: '' }] }),
      warnings: [],
    });
  });

  it('reports its faults, and the asset as far as it is readable', () => {
    expect(parseImportRecord({ categoryKey: 'CUSTOM', externalId: 'c-1', managed: true, tags: 1 })).toEqual({
      ...{ externalId: 'c-1', record: null, warnings: [] },
      reasons: ['name is required.', 'managed is not a member of CUSTOM records.', 'tags must be an array.'],
    });
  });

  it('reports at most twenty faults, with shortened names', () => {
    const named = reasons({ ...COMPUTER, ['x'.repeat(500_000)]: 1, tags: Array.from({ length: 500_000 }, () => 1) });
    expect(named).toHaveLength(20);
    expect(named.slice(0, 2)).toEqual([
      `${'x'.repeat(64)}… is not a member of COMPUTER records.`,
      'tags.0 must be an object.',
    ]);
  });

  it.each(['é'.repeat(1025), 'a\u0000b', 'a\ud800b', '', 17.5])(
    'names no asset in its fault when the external id is impossible: %j',
    (externalId) => {
      expect(parseImportRecord({ ...COMPUTER, externalId })).toMatchObject({ externalId: null });
    },
  );

  it('has no longer tags than a line of JSON, however it came', () => {
    const tagged = (character: string) => ({
      ...COMPUTER,
      tags: Array.from({ length: 1_000 }, (_, place) => ({ key: `${place}${character.repeat(990)}` })),
    });

    expect(reasons(tagged('k'))).toEqual([]);
    expect(reasons(tagged('\u0001'))).toEqual(['tags are longer than 1048576 characters as JSON.']);
  });

  it('keeps the last of two equal tags', () => {
    const parsed = parseImportRecord({
      ...COMPUTER,
      tags: [
        { key: 'a', value: '1' },
        { key: 'a', value: '2', readOnly: true },
      ],
    });
    expect(parsed).toMatchObject({ record: { tags: [{ key: 'a', value: '2' }] } });
  });

  it.each([
    '2026-11-01T02:00:00.123+02:00',
    '2026-11-01 02:00:00.123+02',
    '2026-11-01 02:00:00.123+0200',
    '2026-11-01T00:00:00.123456789z',
    '2026-10-31 19:00:00.123-05',
  ])('reads a time with its offset, as tools write it: %s', (lastCheckedAt) => {
    const parsed = parseImportRecord({ ...COMPUTER, lastCheckedAt });
    expect(parsed).toMatchObject({ record: { lastCheckedAt: new Date('2026-11-01T00:00:00.123Z') } });
  });

  it('reads booleans that a tool wrote as texts', () => {
    const parsed = parseImportRecord({ ...COMPUTER, managed: 'True', compliance: { screenLockEnabled: 'FALSE' } });
    expect(parsed).toMatchObject({ record: { managed: true, compliance: { screenLockEnabled: false } } });
  });

  it('warns of a tag key with two values, of which the last one counts', () => {
    const tagged = (...values: (string | null)[]) =>
      parseImportRecord({ ...COMPUTER, tags: values.map((value) => ({ key: 'env', value })) });

    expect(tagged('test', 'production')).toMatchObject({
      record: { tags: [{ key: 'env', value: 'production' }] },
      warnings: ['tags.1.key stands before with another value; the last one counts.'],
    });
    expect(tagged('test', 'test')).toMatchObject({ record: { tags: [{ value: 'test' }] }, warnings: [] });
    expect(tagged(null, '')).toMatchObject({ warnings: [] });
  });
});
