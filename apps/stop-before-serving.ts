/**
 * Import it before anything else. Ends the process at a signal until it serves. Without a handler, signals do not end
 * the first process of a container; it would start to serve and then be killed.
 */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

const endAtOnce = (): void => process.exit(0);
for (const signal of SIGNALS) process.on(signal, endAtOnce);

/** The graceful stop takes over from here. */
export function leaveSignalsToGracefulStop(): void {
  for (const signal of SIGNALS) process.off(signal, endAtOnce);
}
