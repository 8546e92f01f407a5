import { createHash, randomBytes } from 'node:crypto';
import { type WorkspaceId, isUuid, workspaceId as toWorkspaceId } from '#libs/kernel';

/** Content of a cookie or a link: a secret, and the workspace whose rows have its digest. */
export interface WorkspaceSecret {
  readonly workspaceId: WorkspaceId;
  readonly secret: string;
}

export const newSecret = (): string => randomBytes(32).toString('base64url');

export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export const textOf = ({ workspaceId, secret }: WorkspaceSecret): string => `${workspaceId}.${secret}`;

/** Returns null for a text that {@link textOf} never writes. */
export function readSecret(text: string): WorkspaceSecret | null {
  const [workspace = '', secret = '', ...rest] = text.split('.');
  const isOne = isUuid(workspace) && /^[\w-]{43}$/.test(secret) && rest.length === 0;
  return isOne ? { workspaceId: toWorkspaceId(workspace), secret } : null;
}
