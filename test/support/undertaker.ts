import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/**
 * A shell that waits until its input ends, which happens when we call it and when we die of whatever cause, a killed test
 * run included; then it runs its script, which ends a server and removes what it left. It sits in a session of its own,
 * out of Ctrl-C's reach.
 */
export class Undertaker {
  private readonly shell: ChildProcess;

  /** The script finds `words` as `$1`, `$2` and so on; where they name something, it may not be there yet. */
  constructor(script: string, ...words: readonly string[]) {
    const shell = spawn('/bin/sh', ['-c', `cat >/dev/null\n${script}`, 'sh', ...words], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    shell.unref();
    // The pipe must not keep a test process alive; a socket has unref, which the stream's type does not show.
    (shell.stdin as unknown as { unref(): void }).unref();
    shell.stdin.on('error', () => undefined);
    // jest ends what a test file leaves behind, and lets these do their work: see jest/children.cjs.
    this.shell = Object.assign(shell, { isUndertaker: true });
  }

  get hasCome(): boolean {
    return this.shell.exitCode !== null || this.shell.signalCode !== null;
  }

  /** Resolves when the script has run. */
  async call(): Promise<void> {
    if (this.hasCome) return;
    this.shell.ref();
    const gone = once(this.shell, 'exit');
    this.shell.stdin?.end();
    await gone;
  }
}
