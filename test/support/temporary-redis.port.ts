/** A Redis for tests. Holds no foreign data and stores nothing on disk. */
export abstract class TemporaryRedis {
  abstract readonly url: string;
  /** Removes every key. */
  abstract flush(): Promise<void>;
  /** Kills it and restarts it at the same address, empty. */
  async restart(): Promise<void> {
    await this.end('SIGKILL');
    await this.startAgain();
  }
  /** Suspends it with its connections open, until `thaw`. */
  abstract freeze(): Promise<void>;
  abstract thaw(): Promise<void>;
  /** SIGTERM lets it close its connections, SIGKILL does not. Resolves when nothing listens any more. */
  abstract end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts it at the same address, empty. */
  abstract startAgain(): Promise<void>;
  abstract stop(): Promise<void>;
}
