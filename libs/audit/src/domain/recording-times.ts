/**
 * Returns when the events of these seals were recorded: the time of the seal, or that of the seal before if that is later.
 * So times never fall while sequences grow, whichever instance's clock made the seals. `before` is the time of the seal
 * before them.
 */
export function recordingTimes(before: Date | null, sealedAt: readonly Date[]): Date[] {
  let latest = before;
  return sealedAt.map((time) => (latest = latest !== null && latest > time ? latest : time));
}
