import { example } from '#libs/platform/openapi';
import type { AuditEventDto, AuditEventPageDto } from './audit-event.dto';

export const AUDIT_EVENT: AuditEventDto = {
  id: '01a20add-a4f2-7313-a0d8-098be14f2340',
  sequence: 4711,
  occurredAt: '2026-11-02T08:00:00.000Z',
  recordedAt: '2026-11-02T08:00:04.120Z',
  action: 'asset.updated',
  actor: { type: 'APPLICATION', clientId: 'ci_5f0c2e7d2a7c419a', name: null, personId: null },
  target: { type: 'ASSET', id: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11' },
  request: { id: '6b1f2c1e-0a54-4f6e-9a9b-6a1c7a3c2f10' },
  changes: [
    { field: 'classification', old: 'UNKNOWN', new: 'PUBLIC' },
    { field: 'tags', old: [], new: ['env'] },
  ],
  leafHash: '60a1d9ce938d56b715679a829bcdcbff8648a24588f3ce4a74cb3173a29673f6',
};

export const AUDIT_EVENT_PAGE_EXAMPLES = {
  last: example<AuditEventPageDto>('One update, and nothing more for now', {
    results: [AUDIT_EVENT],
    pageInfo: { hasNextPage: false, endCursor: null },
    resumeCursor: 'AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU',
    lagSeconds: 0,
  }),
};
