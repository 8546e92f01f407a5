/** The command was not asked for rightly: exit code 2. */
export class WrongUsage extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WrongUsage';
  }
}

/** The command was asked for rightly and could not be done: exit code 1. */
export class CommandFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandFailed';
  }
}

/** Somebody ended the command before it was done: exit code 128 + the signal's number, as shells count it. */
export class Interrupted extends Error {
  constructor(readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super('Interrupted.');
    this.name = 'Interrupted';
  }

  get exitCode(): number {
    return { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }[this.signal];
  }
}
