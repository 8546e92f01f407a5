export class Cleanup {
  constructor(script?: string, ...words: readonly string[]);
  add(pid: number): void;
  run(): Promise<void>;
}
export class ProcessCleanup extends Cleanup {}
