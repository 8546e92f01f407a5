import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandFailed, Interrupted, WrongUsage } from './command-faults';

/** One line that explains a failure to the person at the terminal. */
export interface Explanation {
  readonly exitCode: number;
  readonly line: string;
}

/** Recognises library errors by name, because it also runs when the libraries were not loaded. */
export async function explainError(error: unknown): Promise<Explanation> {
  if (error instanceof Interrupted) return { exitCode: error.exitCode, line: error.message };
  if (error instanceof WrongUsage) return { exitCode: 2, line: error.message };
  if (error instanceof CommandFailed) return { exitCode: 1, line: error.message };
  if (!(error instanceof Error)) return { exitCode: 1, line: String(error) };
  if (error.name === 'MapInvalid') return { exitCode: 2, line: oneLine(error.message) };
  if (error.name === 'SettingsInvalid') return { exitCode: 2, line: settingsLine(error) };
  return { exitCode: 1, line: fileLine(error) ?? (await databaseLine(error)) ?? oneLine(error.message) };
}

function settingsLine(error: Error): string {
  const { faults } = error as { faults?: readonly string[] };
  return `The settings are not valid: ${(faults ?? [error.message]).join('; ')}`;
}

async function databaseLine(error: Error): Promise<string | null> {
  const code = (error as { code?: unknown }).code;
  if (['42P01', '42703', '42883'].includes(String(code))) return 'The database is not up to date; run: admin migrate';
  if (code === '42501') return `The role of MIGRATION_DATABASE_URL may not do this: ${oneLine(error.message)}`;
  if (['40P01', '40001', '23503'].includes(String(code))) {
    return 'Other commands or updates were in the way of each attempt. Run the command again.';
  }
  const { connectionWasLost } = await import('#libs/platform/database');
  return connectionWasLost(error) ? 'The connection to Postgres was lost before the command was done.' : null;
}

function fileLine(error: Error): string | null {
  const { code, path } = error as NodeJS.ErrnoException;
  if (path === undefined) return null;
  if (code === 'ENOENT') {
    // An output file need not exist, so the missing part is its directory.
    const directory = dirname(path);
    return existsSync(directory) ? `${path} does not exist.` : `${path}: there is no directory ${directory}.`;
  }
  if (code === 'EISDIR') return `${path} is a directory.`;
  if (code === 'EACCES' || code === 'EPERM') return `${path} may not be opened by this user.`;
  return null;
}

function oneLine(message: string): string {
  return message.trim().replace(/\s*\n\s*/g, ' ');
}
