import { createHmac, timingSafeEqual } from 'node:crypto';
import { ConflictException, ForbiddenException } from '@nestjs/common';
import type { SignedIn } from '../domain/signed-in';
import type { Typed } from './read-fields';

/** Hidden fields of every form: the workspace that it was made for, and a token of this session that covers it. */
export const formFields = ({ secret, workspaceId }: SignedIn): { csrf: string; workspace: string } => ({
  csrf: tokenOf(secret, `form ${workspaceId}`),
  workspace: workspaceId,
});

/**
 * @throws 403 for a form that this session did not get. Unless the form may be `ofAny` workspace, 409 when the session has
 * moved on to another one
 */
export function assertForm({ secret, workspaceId }: SignedIn, { csrf, workspace }: Typed, ofAny = false): void {
  if (!isSame(String(csrf), tokenOf(secret, `form ${String(workspace)}`))) {
    throw new ForbiddenException('This form is not valid. Open the page again and send its form.');
  }
  if (workspace !== workspaceId && !ofAny) {
    throw new ConflictException('You changed the workspace since this form was opened. Nothing was changed.');
  }
}

/** Proves that the secret's holder was given this. */
export const tokenOf = (secret: string, given: string): string =>
  createHmac('sha256', secret).update(given).digest('base64url');

export function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
