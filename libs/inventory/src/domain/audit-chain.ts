import type { WorkspaceId } from '#libs/kernel';
import type { AuditHead, AuditSeal, RecordedEvent } from './audit-event';
import type { AuditEvidence } from './audit-evidence.port';

/** The end of the chain is not as it was left: to go on from there would vouch for whatever was done to it. */
export class AuditChainBroken extends Error {
  constructor() {
    super('The head of the chain was altered; audit verify tells more.');
    this.name = 'AuditChainBroken';
  }
}

/** Events that become the next of the chain, in this order. */
export interface SealedBatch {
  readonly events: readonly { readonly id: string; readonly link: string }[];
  readonly seal: AuditSeal;
  readonly head: AuditHead;
}

/** Chains events, at least one, to the end of the workspace's chain. Throws {@link AuditChainBroken}. */
export function sealBatch(
  evidence: AuditEvidence,
  workspaceId: WorkspaceId,
  before: AuditHead | null,
  events: readonly Pick<RecordedEvent, 'id' | 'mac'>[],
  sealedAt: number,
): SealedBatch {
  if (before !== null && evidence.headMac(before) !== before.mac) throw new AuditChainBroken();
  const firstSequence = (before?.sequence ?? 0) + 1;
  let link = before?.head ?? evidence.chainStart(workspaceId);
  const linked = events.map(({ id, mac }, index) => {
    link = evidence.nextLink(link, firstSequence + index, mac);
    return { id, link };
  });
  const lastSequence = firstSequence + events.length - 1;
  const seal = { workspaceId, firstSequence, lastSequence, head: link, sealedAt: new Date(sealedAt).toISOString() };
  const head = { workspaceId, sequence: lastSequence, head: link };
  return {
    events: linked,
    seal: { ...seal, mac: evidence.sealMac(seal) },
    head: { ...head, mac: evidence.headMac(head) },
  };
}
