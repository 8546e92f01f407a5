/** Work of one key is done one after the other, in the order it came; keys do not wait for each other. */
export class Turns {
  private readonly ends = new Map<string, Promise<void>>();

  /** Gives null, and does nothing, when its turn has not come after so long. */
  async take<Result>(key: string, patienceMs: number, work: () => Promise<Result>): Promise<Result | null> {
    const before = this.ends.get(key);
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    // Whoever gives up leaves the place to those behind, not ahead of those before.
    const end = before ? before.then(() => finished) : finished;
    this.ends.set(key, end);
    void end.then(() => {
      if (this.ends.get(key) === end) this.ends.delete(key);
    });
    try {
      if (before && !(await isWithin(before, patienceMs))) return null;
      return await work();
    } finally {
      finish();
    }
  }

  /** Keys at work or waited for. */
  get size(): number {
    return this.ends.size;
  }
}

function isWithin(end: Promise<void>, patienceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), patienceMs);
    void end.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
