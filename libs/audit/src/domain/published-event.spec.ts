import { workspaceId } from '#libs/kernel';
import type { RecordedEvent } from './audit-event';
import { publish } from './published-event';

const event: RecordedEvent = {
  workspaceId: workspaceId('01234567-89ab-7def-8123-456789abcdef'),
  id: '01a20add-a4f2-7313-a0d8-098be14f2340',
  occurredAt: '2026-11-24T00:03:47.570Z',
  kind: null,
  actorName: null,
  assetId: '657c88a5-0385-4da8-89b3-173b22a8a994',
  applicationId: '4fea0e69-919c-4dc8-9139-888c4dbf3c2a',
  clientId: 'ci_1fa94aa8f38b572a8cb550fc445e4190',
  requestId: 'db9fea32',
  keyHash: 'ff',
  changes: {
    tags: { old: [], new: [{ key: 'env', value: 'prod', readOnly: false }] },
    description: { old: null, new: 'Reviewed by Ada' },
  },
  anchor: null,
  mac: 'aa',
  sequence: 7,
};

describe('The published form of an audit event', () => {
  it('names the action and lists changes by field', () => {
    expect(publish(event, 7, '2026-11-24T00:03:50.000Z')).toEqual({
      id: event.id,
      sequence: 7,
      occurredAt: event.occurredAt,
      recordedAt: '2026-11-24T00:03:50.000Z',
      action: 'asset.updated',
      actor: { type: 'APPLICATION', clientId: event.clientId, name: null, personId: null },
      target: { type: 'ASSET', id: event.assetId },
      request: { id: 'db9fea32' },
      changes: [
        { field: 'description', old: null, new: 'Reviewed by Ada' },
        { field: 'tags', old: [], new: ['env'] },
      ],
    });
  });

  it('names the action of an operator', () => {
    const kind = { action: 'tag_key.created', actorType: 'OPERATOR', targetType: 'TAG_KEY', targetId: 'env' };
    const none = { assetId: null, applicationId: null, clientId: null, requestId: null, keyHash: null, changes: {} };
    const actorName = 'on call';

    expect(publish({ ...event, ...none, kind, actorName }, 8, '2026-11-24T00:03:50.000Z')).toEqual({
      id: event.id,
      sequence: 8,
      occurredAt: event.occurredAt,
      recordedAt: '2026-11-24T00:03:50.000Z',
      action: 'tag_key.created',
      actor: { type: 'OPERATOR', clientId: null, name: 'on call', personId: null },
      target: { type: 'TAG_KEY', id: 'env' },
      request: { id: null },
      changes: [],
    });
  });

  it('exists for altered rows, too', () => {
    const altered = { tags: null, ownerId: {}, description: { old: 1 } } as unknown as RecordedEvent['changes'];

    expect(publish({ ...event, changes: altered }, 7, '').changes).toEqual([
      { field: 'description', old: 1, new: null },
      { field: 'ownerId', old: null, new: null },
      { field: 'tags', old: null, new: null },
    ]);
  });
});
