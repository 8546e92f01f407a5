/** Listens for Ctrl-C and similar signals from its creation on. */
export class StopRequest {
  /** Resolves when a stop is requested. */
  readonly asked: Promise<void>;
  isAsked = false;

  /** Long work calls it between steps. */
  readonly check = (): void => {
    if (this.isAsked) throw new Error('Stopped.');
  };

  constructor() {
    this.asked = new Promise((resolve) => {
      const ask = (): void => {
        this.isAsked = true;
        resolve();
      };
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.on(signal, ask);
      }
      // A killed npm sends no signal, and without it nobody can press Ctrl-C.
      const parent = process.ppid;
      if (['start', 'dev'].includes(process.env['npm_lifecycle_event'] ?? '')) {
        setInterval(() => process.ppid !== parent && ask(), 250).unref();
      }
    });
  }
}
