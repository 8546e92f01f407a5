/** The command line is wrong: exit code 2. */
export class WrongUsage extends Error {}

/** The command failed: exit code 1. */
export class CommandFailed extends Error {}

/** A signal ended the command: exit code 128 + the signal's number, as in shells. */
export class Interrupted extends Error {
  constructor(readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super('Interrupted.');
    this.name = 'Interrupted';
  }

  get exitCode(): number {
    return { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }[this.signal];
  }
}
