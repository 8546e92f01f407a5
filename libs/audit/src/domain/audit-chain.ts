import type { WorkspaceId } from '#libs/kernel';
import type { AnchoredEvent, AuditHead, AuditSeal } from './audit-event';
import { anchorStands, isAuthentic } from './audit-event-check';
import type { AuditEvidence } from './audit-evidence.port';
import type { AuditFloor } from './audit-tree';

/** An end of the chain was altered. Sealing more events would vouch for the altered part. */
export class AuditChainBroken extends Error {
  constructor(end: 'head' | 'floor') {
    super(`The ${end} of the chain was altered; audit verify tells more.`);
    this.name = 'AuditChainBroken';
  }
}

/** The next event to seal, or the chain before it, was altered. Sealing it would vouch for the altered part. */
export class AuditEventRefused extends Error {
  constructor(id: string) {
    super(`The event ${id} and those after it are not sealed; audit verify tells more.`);
    this.name = 'AuditEventRefused';
  }
}

/** Events to append to the chain, in this order. */
export interface SealedBatch {
  readonly events: readonly { readonly id: string; readonly link: string }[];
  readonly seal: AuditSeal;
  readonly head: AuditHead;
}

/** The ends of a workspace's chain. Null where it has none yet. */
export interface ChainEnds {
  readonly head: AuditHead | null;
  /** Anchors below it cannot be checked, so a forged one would let a shortened chain pass. */
  readonly floor: AuditFloor | null;
}

/**
 * Appends events to the workspace's chain, up to the first that is not authentic. Expects at least one event.
 * @throws {@link AuditChainBroken}, and {@link AuditEventRefused} when the first event is not authentic
 */
export function sealBatch(
  evidence: AuditEvidence,
  workspaceId: WorkspaceId,
  { head: before, floor }: ChainEnds,
  events: readonly AnchoredEvent[],
  sealedAt: number,
): SealedBatch {
  if (before !== null && evidence.headMac(before) !== before.mac) throw new AuditChainBroken('head');
  if (floor !== null && evidence.floorMac(floor) !== floor.mac) throw new AuditChainBroken('floor');
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

/**
 * Returns when the events of these seals were recorded: the time of the seal, or that of the seal before if that is later.
 * So times never fall while sequences grow, whichever instance's clock made the seals. `before` is the time of the seal
 * before them.
 */
export function recordingTimes(before: Date | null, sealedAt: readonly Date[]): Date[] {
  let latest = before;
  return sealedAt.map((time) => (latest = latest !== null && latest > time ? latest : time));
}

/** Tells whether this is the time that {@link recordingTimes} gives a seal. `before` is '' before the first seal. */
export const isRecordedInOrder = (sealedAt: string, before: string, recordedAt: string): boolean =>
  recordedAt === (before > sealedAt ? before : sealedAt);
