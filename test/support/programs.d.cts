export type Program =
  | 'redis-server'
  | 'haproxy'
  | 'pgbouncer'
  | 'chromium'
  | 'curl'
  | 'python3'
  | 'openssl'
  | 'psql'
  | 'redis-cli'
  | 'promtool';

export function demandProgram(program: Program): string;
export function dockerResponds(): boolean;
export function findProgram(program: Program): string | null;
export function installation(program: Program): string;
export function isRedisThere(): boolean;
export function searchPath(): string;
