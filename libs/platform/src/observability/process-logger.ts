import type { LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import { GatheredLines } from './gathered-lines';
import { messageOf, redacted } from './redaction';

/** More bytes than come together while lines wait for each other: when to write is for those lines to say. */
const KEPT_BYTES = 1_048_576;

/** The process's log: one JSON document a line, or readable lines for a terminal. */
export function createLog(options: { readonly level: string; readonly format: 'json' | 'pretty' }): Logger {
  const base = {
    level: options.level,
    base: undefined,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: redacted },
  };
  if (options.format === 'json') {
    const output = pino.destination({ fd: 1, sync: false, minLength: KEPT_BYTES, maxWrite: 2 * KEPT_BYTES });
    return pino({ ...base, formatters: { level: (level) => ({ level }) } }, new GatheredLines(output));
  }
  return pino({ ...base, transport: { target: 'pino-pretty', options: { messageKey: 'message' } } });
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
