import type { LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import { LogOutput } from './log-output';
import { messageOf, redacted } from './redaction';

/** Creates the log: one JSON document a line, or readable lines for a terminal. */
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
  output.onRecovery = (dropped) => log.warn({ dropped }, 'log lines dropped');
  return log;
}

/** Loaded here only, because JSON lines do not need it. */
function readable(): (line: string) => string {
  const { prettyFactory } = require('pino-pretty') as typeof import('pino-pretty');
  const prettify = prettyFactory({ messageKey: 'message' });
  return (line) => prettify(redacted(line));
}

/** Creates the log of a process, which loses no line when the process ends. */
export function logOfProcess(
  level: string,
  format: 'json' | 'pretty',
): { readonly output: LogOutput; readonly log: Logger } {
  const output = LogOutput.ofProcess();
  const log = createLog({ level, format }, output);
  logCrash(log);
  process.once('exit', () => output.flushSync());
  return { output, log };
}

/**
 * Logs an uncaught error and ends the process. Node would print all members of the error, and not as JSON. The state of
 * the process is unknown by then.
 */
function logCrash(log: Logger): void {
  process.once('uncaughtException', (error: unknown) => {
    log.fatal({ error: describe(error) }, 'uncaught error, the process ends');
    process.exit(1);
  });
}

/** The reason of a failed request lies two causes deep: openid-client, then fetch, then the socket. */
const MOST_CAUSES = 3;

/** A stack line in `apps/` or `libs/`, without the path before it. */
const OWN_FRAME = /^ +at .*?((?:apps|libs)\/[^\s)]+)\)?$/m;

/** Sends the messages of Nest and of our `Logger`s to the same log. */
export class ProcessLogger implements LoggerService {
  constructor(private readonly target: Logger) {}

  log(message: unknown, context?: string): void {
    // Nest's start-up messages are texts, and help contributors only. Events of ours are objects.
    const isWanted = typeof message === 'object' || context === 'NestApplication' || context === undefined;
    this.target[isWanted ? 'info' : 'debug'](...entry(message, context));
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
 * Describes an error by its name, its message, the line in our code and the error behind it. Omits the full stack, which
 * shows paths of the host. Omits other members, which may hold row values or credentials.
 */
function describe(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, stack = '', cause } = error;
  const [, where = null] = OWN_FRAME.exec(stack) ?? [];
  return {
    name,
    message: messageOf(error),
    code: (error as { code?: unknown }).code,
    where,
    cause: cause instanceof Error && depth < MOST_CAUSES ? describe(cause, depth + 1) : undefined,
  };
}
