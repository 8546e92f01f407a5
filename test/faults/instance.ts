import { ApiProcess } from '../support/api-process';
import { freePort } from '../support/free-port';

/** One instance of the API with a fixed address, which a test may kill and restart. */
export class Instance {
  private process: ApiProcess;
  private isServing = false;
  private readonly collapses: string[] = [];

  private constructor(
    private readonly environment: Readonly<Record<string, string>>,
    readonly origin: string,
  ) {
    this.process = new ApiProcess(environment);
  }

  /** Starts the instance. @throws its output when it ends before it serves */
  static async start(environment: Readonly<Record<string, string>>): Promise<Instance> {
    const port = await freePort();
    const instance = new Instance({ ...environment, PORT: String(port) }, `http://127.0.0.1:${port}`);
    await instance.served();
    return instance;
  }

  get serving(): boolean {
    return this.isServing;
  }

  /** The last output of each unexpected end. */
  get collapsed(): readonly string[] {
    return this.collapses;
  }

  /** Number of outages of Redis since its start. */
  get timesWithoutRedis(): number {
    return this.process.output.split('Redis is away').length - 1;
  }

  /** Tells whether it uses Redis again after the last outage. */
  get usesRedis(): boolean {
    return this.process.output.split('Redis is back').length - 1 === this.timesWithoutRedis;
  }

  signal(signal: NodeJS.Signals): void {
    this.process.signal(signal);
  }

  /** Kills it by SIGKILL, in the middle of its work. */
  async kill(): Promise<void> {
    this.isServing = false;
    await this.process.kill();
  }

  /** Stops it by SIGTERM like an orchestrator. Returns its exit code and the duration. */
  async terminate(): Promise<{ readonly exitCode: number | null; readonly milliseconds: number }> {
    const since = performance.now();
    this.isServing = false;
    this.process.signal('SIGTERM');
    const exitCode = await this.process.exitCode();
    return { exitCode, milliseconds: Math.round(performance.now() - since) };
  }

  async startAgain(): Promise<void> {
    this.process = new ApiProcess(this.environment);
    await this.served();
  }

  private async served(): Promise<void> {
    const { process } = this;
    await process.serving();
    this.isServing = true;
    void process.exitCode().then((code) => {
      if (!this.isServing || process !== this.process) return;
      this.isServing = false;
      this.collapses.push(`ended with ${code}: ${process.errors || process.output.slice(-2_000)}`);
    });
  }
}
