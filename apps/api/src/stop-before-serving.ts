/**
 * To be imported before anything else. Until the process serves there is nothing to put in order, but somebody must
 * listen: the first process of a container is not ended by a signal that it has no handler for, and would go on to serve
 * until it is killed.
 */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

const endAtOnce = (): void => process.exit(0);
for (const signal of SIGNALS) process.on(signal, endAtOnce);

/** From now on somebody else listens. */
export function endOnlyInOrder(): void {
  for (const signal of SIGNALS) process.off(signal, endAtOnce);
}
