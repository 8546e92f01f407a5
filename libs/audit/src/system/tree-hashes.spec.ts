import { createHash } from 'node:crypto';
import { treeHashes } from './tree-hashes';

describe('The leaf hash of an audit event', () => {
  it('is the SHA-256 of a zero byte and the canonical JSON', () => {
    const event = {
      id: '01a20add-a4f2-7313-a0d8-098be14f2340',
      sequence: 7,
      occurredAt: '2026-11-24T00:03:47.570Z',
      recordedAt: '2026-11-24T00:03:50.000Z',
      action: 'asset.updated',
      actor: { type: 'APPLICATION', clientId: 'ci_1' },
      target: { type: 'ASSET', id: '657c88a5' },
      request: { id: null },
      changes: [{ field: 'description', old: null, new: 'é"' }],
    };
    const canonical =
      '{"action":"asset.updated","actor":{"clientId":"ci_1","type":"APPLICATION"},' +
      '"changes":[{"field":"description","new":"é\\"","old":null}],"id":"01a20add-a4f2-7313-a0d8-098be14f2340",' +
      '"occurredAt":"2026-11-24T00:03:47.570Z","recordedAt":"2026-11-24T00:03:50.000Z","request":{"id":null},' +
      '"sequence":7,"target":{"id":"657c88a5","type":"ASSET"}}';

    expect(treeHashes.leaf(event)).toBe(createHash('sha256').update(`\0${canonical}`).digest('hex'));
  });
});

describe('Another hash of the tree', () => {
  const sha256 = (...bytes: number[]) => createHash('sha256').update(Buffer.from(bytes)).digest('hex');

  it('is the SHA-256 of a byte of one and both children', () => {
    expect(treeHashes.node('00ff', 'ab')).toBe(sha256(1, 0x00, 0xff, 0xab));
  });

  it('is the SHA-256 of nothing without leaves', () => {
    expect(treeHashes.empty).toBe(sha256());
  });
});
