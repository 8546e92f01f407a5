import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { AuditEvidenceSystem } from '../system/audit-evidence.system';
import { AuditCheck } from './audit-check';
import type { AnchoredEvent, StoredSeal } from './audit-event';
import { anchorStands } from './audit-event-check';
import { AuditSnapshot } from './audit-snapshot.port';

async function* nothing(): AsyncGenerator<never, void> {}

/** Counts one event more than its pages contain. */
class ForgetfulSnapshot extends AuditSnapshot {
  readonly sealedCount = 0;
  readonly unsealedCount = 1;
  readonly head = null;
  readonly tree = null;
  readonly floor = null;
  seals = (): AsyncGenerator<StoredSeal, void> => nothing();
  sealedEvents = (): AsyncGenerator<AnchoredEvent, void> => nothing();
  unsealedEvents = (): AsyncGenerator<AnchoredEvent, void> => nothing();
  close = (): Promise<void> => Promise.resolve();
}

describe('AuditCheck', () => {
  const WORKSPACE: WorkspaceId = workspaceId('01234567-89ab-7def-8123-456789abcdef');
  const event: AnchoredEvent = {
    ...{ workspaceId: WORKSPACE, id: 'id', occurredAt: '', kind: null, assetId: '', applicationId: '', clientId: '' },
    ...{ requestId: '', keyHash: '', changes: {}, mac: '', link: 'bb' },
    ...{ sequence: 8, anchor: { sequence: 7, link: 'aa' }, anchoredLink: 'aa' },
  };

  it('fails when it saw fewer events than exist', async () => {
    const evidence = new AuditEvidenceSystem(Buffer.alloc(32));
    const check = new AuditCheck(evidence, WORKSPACE, new ForgetfulSnapshot(), () => undefined);
    expect(await check.firstFault()).toEqual({
      sequence: null,
      reason: expect.stringMatching(/1 .* 0 could/) as string,
    });
  });

  it('expects in the place of an event’s anchor the link that was there', () => {
    expect(anchorStands(event)).toBe(true);
    expect(anchorStands({ ...event, anchor: null, anchoredLink: null })).toBe(true);
    expect(anchorStands({ ...event, anchoredLink: 'cc' })).toBe(false);
    expect(anchorStands({ ...event, anchoredLink: null })).toBe(false);
  });
});
