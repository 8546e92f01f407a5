import type { LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import { LogOutput } from './log-output';
import { messageOf, redacted } from './redaction';

/** The process's log: one JSON document a line, or readable lines for a terminal. */
export function createLog(
  options: { readonly level: string; readonly format: 'json' | 'pretty' },
  output = new LogOutput(1),
): Logger {
  const log = pino(
    {
      level: options.level,
      base: undefined,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      ...(options.format === 'json'
        ? { formatters: { level: (level: string) => ({ level }) }, hooks: { streamWrite: redacted } }
        : { hooks: { streamWrite: readable() } }),
    },
    output,
  );
  output.onRecovery = (dropped) => log.warn({ dropped }, 'lines of the log were dropped: it could not be written');
  return log;
}

/** Only here the library is loaded: JSON lines do not need it. */
function readable(): (line: string) => string {
  const { prettyFactory } = require('pino-pretty') as typeof import('pino-pretty');
  const prettify = prettyFactory({ messageKey: 'message' });
  return (line) => prettify(redacted(line));
}

/**
 * Of an error that nobody caught, Node would print every member, in lines that are no JSON. Said here as every other
 * error is; then the process ends, for what it was doing is not known any more.
 */
export function logCrash(log: Logger): void {
  process.once('uncaughtException', (error: unknown) => {
    log.fatal({ error: describe(error) }, 'The process ends: an error was not caught.');
    process.exit(1);
  });
}

/** A line of a stack in `apps/` or `libs/`, without what stands before. */
const OWN_FRAME = /^ +at .*?((?:apps|libs)\/[^\s)]+)\)?$/m;

/** Nest's own messages, and those of our `Logger`s, in the same log. */
export class ProcessLogger implements LoggerService {
  constructor(private readonly target: Logger) {}

  log(message: unknown, context?: string): void {
    // Nest's start-up chatter is of use to contributors only.
    this.target[context === 'NestApplication' || context === undefined ? 'info' : 'debug'](...entry(message, context));
  }

  warn(message: unknown, context?: string): void {
    this.target.warn(...entry(message, context));
  }

  error(message: unknown, ...rest: unknown[]): void {
    const context = rest.at(-1);
    this.target.error(...entry(message, typeof context === 'string' ? context : undefined));
  }

  debug(message: unknown, context?: string): void {
    this.target.debug(...entry(message, context));
  }

  verbose(message: unknown, context?: string): void {
    this.target.trace(...entry(message, context));
  }
}

function entry(message: unknown, context: string | undefined): [object, string?] {
  if (message instanceof Error) return [{ context, error: describe(message) }, messageOf(message)];
  if (typeof message !== 'object' || message === null) return [{ context }, String(message)];
  const { error, ...fields } = message as { error?: unknown };
  return [{ context, ...fields, ...(error === undefined ? {} : { error: describe(error) }) }];
}

/**
 * What the log keeps of an error: its kind, its message and where in our own code it arose. Never its stack as it is,
 * which tells the paths of the host, nor its other members: those of Postgres' errors hold values of rows, those of an
 * HTTP client's the credentials it was sent (decisions, section 1).
 */
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, stack = '' } = error;
  const [, where = null] = OWN_FRAME.exec(stack) ?? [];
  return { name, message: messageOf(error), code: (error as { code?: unknown }).code, where };
}
