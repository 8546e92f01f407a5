import { InputFaults, type Tag, assetId } from '#libs/kernel';
import type { Asset } from './asset';
import { type KnownNames, type SentPatch, applyPatch, findNamed, patchFieldsOf } from './asset-patch';

const ANNA = assetId('1');
const BERT = assetId('2');
const NOW = new Date('2026-01-02T03:04:05Z');
const tag = (key: string, value = '', readOnly = false): Tag => ({ key, value, readOnly });
/** Not every member, so that a new one needs no line here. */
const some: Partial<Asset> = {
  ...{ id: assetId('9'), type: 'COMPUTER' as never, name: 'a', externalId: 'x', source: 's' },
  ...{ classification: 'PUBLIC', description: 'old', ownerId: ANNA, ownerSource: 'RULE' },
  ...{ createdAt: new Date(0), updatedAt: new Date(0), lastCheckedAt: null, dataStored: null },
  ...{ accountId: null, region: null, serialNumber: null, operatingSystem: null, osVersion: null, email: null },
  ...{ tags: [tag('b', 'of the platform', true), tag('c', 'v')], version: 4 },
};
const asset = some as Asset;

describe('A patch of an asset', () => {
  const apply = (patch: Parameters<typeof applyPatch>[1], from = asset, now = NOW) =>
    applyPatch(from, patch, now, 'API');

  it('changes what it names, and counts a version', () => {
    const { asset: after, change } = apply({ classification: 'INTERNAL', description: 'new' });
    expect(after).toEqual({ ...asset, classification: 'INTERNAL', description: 'new', updatedAt: NOW, version: 5 });
    expect(change).toEqual({
      assetId: asset.id,
      fields: { classification: { old: 'PUBLIC', new: 'INTERNAL' }, description: { old: 'old', new: 'new' } },
    });
  });

  it('clears by null, and by an empty description', () => {
    const { asset: after } = apply({ classification: null, description: null, ownerId: null, tags: [] });
    expect(after).toMatchObject({ classification: 'UNKNOWN', description: null, ownerId: null, ownerSource: null });
    expect(after.tags).toEqual([tag('b', 'of the platform', true)]);
    expect(apply({ description: '' }).asset.description).toBeNull();
  });

  it.each([[{}], [{ classification: 'PUBLIC' as const, description: 'old' }], [{ tags: [tag('c', 'v')] }]])(
    'changes nothing by %j',
    (patch) => {
      expect(apply(patch)).toEqual({ asset, patch, change: null });
    },
  );

  it('sets the source of an owner, which is a change of its own', () => {
    const { asset: after, change } = apply({ ownerId: ANNA });
    expect([after.ownerId, after.ownerSource]).toEqual([ANNA, 'API']);
    expect(change?.fields).toEqual({ ownerSource: { old: 'RULE', new: 'API' } });
    expect(patchFieldsOf(change!)).toEqual(['ownerId']);
    expect(patchFieldsOf(apply({ ownerId: BERT, description: null }).change!)).toEqual(['description', 'ownerId']);
  });

  it('replaces the tags of the customer, in the order of code points', () => {
    const wanted = [tag('d', 'v'), tag('a', 'v')];
    const { asset: after, change } = apply({ tags: wanted });
    expect(after.tags).toEqual([tag('a', 'v'), tag('b', 'of the platform', true), tag('d', 'v')]);
    expect(change?.fields).toEqual({ tags: { old: asset.tags, new: after.tags } });
  });

  it.each([[tag('c', 'w')], [tag('e', 'v')], [tag('c', 'v', true)]])('sees that %j is another tag', (other) => {
    expect(apply({ tags: [other] }).change?.fields).toHaveProperty('tags');
  });

  it('is never older than the update before, and never moves back', () => {
    const later = { ...asset, updatedAt: new Date(NOW.getTime() + 1) };
    expect(apply({ description: null }, later).asset.updatedAt).toEqual(later.updatedAt);
    expect(apply({ description: null }).asset.updatedAt).toEqual(NOW);
  });
});

describe('The names in a patch', () => {
  const known: KnownNames = {
    employees: new Set([ANNA]),
    byEmail: new Map([
      ['anna@a.example', [ANNA]],
      ['both@a.example', [ANNA, BERT]],
    ]),
    tagKeys: new Map([
      ['team', { platform: false, value: 'blue' } as never],
      ['env', { platform: false, value: null } as never],
      ['aws', { platform: true, value: 'x' } as never],
    ]),
  };
  const find = (patch: SentPatch) => {
    const faults = new InputFaults();
    const found = findNamed(patch, known, ['patch'], faults);
    return [
      found,
      faults.all.map(({ code, detail, ...place }) => [(place as { pointer?: string }).pointer, code, detail]),
    ];
  };

  it.each<[SentPatch, object]>([
    [{}, {}],
    [{ description: null }, { description: null }],
    [{ ownerId: ANNA }, { ownerId: ANNA }],
    [{ ownerId: null }, { ownerId: null }],
    [{ ownerEmail: 'anna@a.example' }, { ownerId: ANNA }],
    [{ tags: [] }, { tags: [] }],
    [{ tags: ['team', 'env', 'team'] }, { tags: [tag('team', 'blue'), tag('env')] }],
  ])('in %j are found', (patch, found) => {
    expect(find(patch)).toEqual([found, []]);
  });

  it.each<[SentPatch, string, string, string]>([
    [{ ownerId: BERT }, '/patch/ownerId', 'unknown', 'ownerId is not a visible employee of the workspace.'],
    [
      { ownerEmail: 'x@a.example' },
      '/patch/ownerEmail',
      'unknown',
      'ownerEmail is of no visible employee of the workspace.',
    ],
    [
      { ownerEmail: 'both@a.example' },
      '/patch/ownerEmail',
      'ambiguous',
      'ownerEmail is of several visible employees of the workspace.',
    ],
    [{ tags: ['team', 'aws'] }, '/patch/tags/1/key', 'readonly', 'aws is a tag key of the platform.'],
    [{ tags: ['no'] }, '/patch/tags/0/key', 'unknown', 'no is no tag key of the workspace.'],
  ])('in %j have a fault', (patch, pointer, code, detail) => {
    expect(find(patch)[1]).toEqual([[pointer, code, detail]]);
  });
});
