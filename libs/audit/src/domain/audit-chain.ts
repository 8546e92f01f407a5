import type { WorkspaceId } from '#libs/kernel';
import type { AnchoredEvent, AuditHead, AuditSeal } from './audit-event';
import { anchorStands, isAuthentic } from './audit-event-check';
import type { AuditEvidence } from './audit-evidence.port';

/** The end of the chain is not as it was left: to go on from there would vouch for whatever was done to it. */
export class AuditChainBroken extends Error {
  constructor() {
    super('The head of the chain was altered; audit verify tells more.');
    this.name = 'AuditChainBroken';
  }
}

/** The next event to seal is not as it was recorded, or the chain before it is not: to go on would vouch for that. */
export class AuditEventRefused extends Error {
  constructor(id: string) {
    super(`The event ${id} and those after it are not sealed; audit verify tells more.`);
    this.name = 'AuditEventRefused';
  }
}

/** Events that become the next of the chain, in this order. */
export interface SealedBatch {
  readonly events: readonly { readonly id: string; readonly link: string }[];
  readonly seal: AuditSeal;
  readonly head: AuditHead;
}

/**
 * Chains events, at least one, to the end of the workspace's chain: all before the first that cannot be vouched for. Throws
 * {@link AuditChainBroken}, and {@link AuditEventRefused} when that is the first of them.
 */
export function sealBatch(
  evidence: AuditEvidence,
  workspaceId: WorkspaceId,
  before: AuditHead | null,
  events: readonly AnchoredEvent[],
  sealedAt: number,
): SealedBatch {
  if (before !== null && evidence.headMac(before) !== before.mac) throw new AuditChainBroken();
  const firstSequence = (before?.sequence ?? 0) + 1;
  let link = before?.head ?? evidence.chainStart(workspaceId);
  const refused = events.findIndex((event) => !isAuthentic(evidence, event) || !anchorStands(event));
  if (refused === 0) throw new AuditEventRefused(events[0]?.id ?? '');
  const sound = refused === -1 ? events : events.slice(0, refused);
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
