import type { Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import type { Cookies } from './cookies';
import { isSame, tokenOf } from './form-token';

const LIFE_MS = 60_000;

/** Leaves a text for the page that a form leads to. A cookie of this session carries it, so no address does. */
export function leaveNotice(cookies: Cookies, me: SignedIn, response: Response, text: string): void {
  cookies.set(response, 'notice', `${Buffer.from(text).toString('base64url')}.${proofOf(me, text)}`, LIFE_MS);
}

/** Takes it away, because it is told once. */
export function takeNotice(cookies: Cookies, me: SignedIn, response: Response): string | null {
  const [encoded = '', token = ''] = (cookies.take(response, 'notice') ?? '').split('.');
  const text = Buffer.from(encoded, 'base64url').toString();
  return isSame(token, proofOf(me, text)) ? text : null;
}

const proofOf = ({ secret, workspaceId }: SignedIn, text: string): string =>
  tokenOf(secret, `notice ${workspaceId} ${text}`);
