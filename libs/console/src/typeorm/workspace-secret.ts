import { createHash, randomBytes } from 'node:crypto';
import { isUuid, workspaceId as toWorkspaceId } from '#libs/kernel';
import type { SignedIn } from '../domain/signed-in';

/** Content of a cookie or a link: a secret, and the workspace whose rows have its digest. */
export type WorkspaceSecret = Pick<SignedIn, 'workspaceId' | 'secret'>;

export const newSecret = (): string => randomBytes(32).toString('base64url');

export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export const textOf = ({ workspaceId, secret }: WorkspaceSecret): string => `${workspaceId}.${secret}`;

/** Returns null for a text that {@link textOf} never writes: the audit signs ids in small letters. */
export function readSecret(text: string): WorkspaceSecret | null {
  const [, workspace = '', secret = ''] = /^([\da-f-]{36})\.([\w-]{43})$/.exec(text) ?? [];
  return isUuid(workspace) ? { workspaceId: toWorkspaceId(workspace), secret } : null;
}
