/** A semaphore: limits the number of holders, and later callers wait in line. */
export class Permits {
  private free: number;
  private readonly line: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
  }

  get waiting(): number {
    return this.line.length;
  }

  /** @throws the pool's timeout error when no permit is free in time */
  async acquire(patienceMs: number): Promise<void> {
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.line.splice(this.line.indexOf(admit), 1);
        reject(new Error('timeout exceeded when trying to connect'));
      }, patienceMs);
      this.line.push(admit);
    });
  }

  release(): void {
    const next = this.line.shift();
    if (next) next();
    else this.free += 1;
  }
}
