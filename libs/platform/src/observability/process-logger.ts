import type { LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';

/** The process's log: one JSON document a line, or readable lines for a terminal. */
export function createLog(options: { readonly level: string; readonly format: 'json' | 'pretty' }): Logger {
  const base = {
    level: options.level,
    base: undefined,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  if (options.format === 'json') return pino({ ...base, formatters: { level: (level) => ({ level }) } });
  return pino({ ...base, transport: { target: 'pino-pretty', options: { messageKey: 'message' } } });
}

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
  if (message instanceof Error) return [{ context, error: describe(message) }, message.message];
  if (typeof message !== 'object' || message === null) return [{ context }, String(message)];
  const { error, ...fields } = message as { error?: unknown };
  return [{ context, ...fields, ...(error === undefined ? {} : { error: describe(error) }) }];
}

/**
 * What the log keeps of an error. Never its other members: those of Postgres' errors hold values of rows, those of an
 * HTTP client's the credentials it was sent.
 */
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, message, stack } = error;
  return { name, message, stack, code: (error as { code?: unknown }).code };
}
