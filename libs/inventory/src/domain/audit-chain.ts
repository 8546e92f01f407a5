import type { WorkspaceId } from '#libs/kernel';
import type { AuditHead, AuditSeal, RecordedEvent } from './audit-event';
import { isAuthentic } from './audit-authenticity';
import type { AuditEvidence } from './audit-evidence.port';

/** The end of the chain is not as it was left: to go on from there would vouch for whatever was done to it. */
export class AuditChainBroken extends Error {
  constructor() {
    super('The head of the chain was altered; audit verify tells more.');
    this.name = 'AuditChainBroken';
  }
}

/** The next event to seal is not as it was recorded: to chain it would vouch for it. */
export class AuditEventForged extends Error {
  constructor(id: string) {
    super(`The event ${id} was altered or forged; it and those after it are not sealed. audit verify tells more.`);
    this.name = 'AuditEventForged';
  }
}

/** Events that become the next of the chain, in this order. */
export interface SealedBatch {
  readonly events: readonly { readonly id: string; readonly link: string }[];
  readonly seal: AuditSeal;
  readonly head: AuditHead;
}

/**
 * Chains events, at least one, to the end of the workspace's chain: all before the first that is not as it was recorded.
 * Throws {@link AuditChainBroken}, and {@link AuditEventForged} when that is the first of them.
 */
export function sealBatch(
  evidence: AuditEvidence,
  workspaceId: WorkspaceId,
  before: AuditHead | null,
  events: readonly RecordedEvent[],
  sealedAt: number,
): SealedBatch {
  if (before !== null && evidence.headMac(before) !== before.mac) throw new AuditChainBroken();
  const firstSequence = (before?.sequence ?? 0) + 1;
  let link = before?.head ?? evidence.chainStart(workspaceId);
  const forged = events.findIndex((event) => !isAuthentic(evidence, event));
  if (forged === 0) throw new AuditEventForged(events[0]?.id ?? '');
  const sound = forged === -1 ? events : events.slice(0, forged);
  const linked = sound.map(({ id, mac }, index) => {
    link = evidence.nextLink(link, firstSequence + index, mac);
    return { id, link };
  });
  const lastSequence = firstSequence + sound.length - 1;
  const seal = { workspaceId, firstSequence, lastSequence, head: link, sealedAt: new Date(sealedAt).toISOString() };
  const head = { workspaceId, sequence: lastSequence, head: link };
  return {
    events: linked,
    seal: { ...seal, mac: evidence.sealMac(seal) },
    head: { ...head, mac: evidence.headMac(head) },
  };
}
