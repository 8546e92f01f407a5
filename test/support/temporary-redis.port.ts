/** A Redis for tests: nothing in it is anybody's, and it keeps nothing on disk. */
export abstract class TemporaryRedis {
  abstract readonly url: string;
  /** Forgets every key. */
  abstract flush(): Promise<void>;
  /** Ends it at once and starts it again at the same address, empty. */
  async restart(): Promise<void> {
    await this.end('SIGKILL');
    await this.startAgain();
  }
  /** Keeps it from answering and leaves its connections open, until `thaw`. */
  abstract freeze(): Promise<void>;
  abstract thaw(): Promise<void>;
  /** SIGTERM lets it close its connections, SIGKILL does not. Resolves when nothing listens any more. */
  abstract end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** At the same address, empty. */
  abstract startAgain(): Promise<void>;
  abstract stop(): Promise<void>;
}
