/** Ctrl-C and its kin, from the making of this on. */
export class StopRequest {
  /** Resolves when somebody asks to stop. */
  readonly asked: Promise<void>;
  isAsked = false;

  /** For long work to call between its steps. */
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
      // npm that is killed tells nobody; without it there is no one left to press Ctrl-C.
      const parent = process.ppid;
      if (process.env['npm_lifecycle_event'] === 'start') {
        setInterval(() => process.ppid !== parent && ask(), 250).unref();
      }
    });
  }
}
