import type { Server } from 'node:http';
import { SettingsInvalid } from '../config';

/** The process cannot serve. The message is for operators. */
export class CannotStart extends Error {}

/** Listens. An unavailable address is reported as a fault of its setting, such as `PORT`. */
export function listen(server: Server, setting: string, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      const why = code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${code ?? ''})`;
      const isPortAtFault = code === 'EADDRINUSE' || code === 'EACCES';
      const remedy = isPortAtFault
        ? `${setting} to another port`
        : `${setting.replace('PORT', 'HOST')} to another address`;
      reject(new CannotStart(`${host}:${port} ${why}; set ${remedy}.`));
    });
    server.listen(port, host, resolve);
  });
}

/** The line for operators about a start that failed. The stack appears at log level debug only. */
export function reasonOfFailedStart(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof CannotStart || error instanceof SettingsInvalid) return error.message;
  return process.env['LOG_LEVEL'] === 'debug' ? (error.stack ?? error.message) : `Cannot start: ${error.message}`;
}
