import type { JsonataOptions } from 'jsonata';
import { LinearRegex } from './linear-regex';
import { MemoryWatch } from './memory-watch';

/** Milliseconds, calls within calls, and values of one list. JSONata counts the groups of `{key: value}` as calls. */
export interface ExpressionLimits {
  readonly timeout: number;
  readonly stack: number;
  readonly sequence: number;
}

const READS_BETWEEN_LOOKS = 32;

/** The limits of one expression. JSONata reads them at each step, which is the only place to look at its memory. */
export class StepLimits implements JsonataOptions {
  readonly timeout: number;
  readonly sequence: number;
  readonly RegexEngine: RegExpConstructor;
  private begun = 0;
  private reads = 0;
  private memory: MemoryWatch | null = null;

  constructor(private readonly limits: ExpressionLimits) {
    this.timeout = limits.timeout;
    this.sequence = limits.sequence;
    const look = (): void => this.lookAtTime();
    this.RegexEngine = class extends LinearRegex {
      override exec(text: string): RegExpExecArray | null {
        look();
        return super.exec(text);
      }
    } as unknown as RegExpConstructor;
  }

  /** Begins an evaluation. */
  begin(): void {
    this.reads = 0;
    this.memory = null;
    this.begun = performance.now();
  }

  /** JSONata makes no step between the matches of a text, each of which may read all of the rest. */
  private lookAtTime(): void {
    if (performance.now() - this.begun > this.timeout)
      throw new Error(`The expression takes longer than ${this.timeout} milliseconds.`);
  }

  /** @throws when the memory of the process is nearly full */
  get stack(): number {
    this.reads += 1;
    if (this.reads % READS_BETWEEN_LOOKS === 0) {
      this.memory ??= new MemoryWatch();
      const shortage = this.memory.shortage();
      if (shortage !== null) throw new Error(`The expression ${shortage}`);
    }
    return this.limits.stack;
  }
}
