import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { Cookies } from './cookies';
import { isSame } from './form-token';

const LIFE_MS = 60_000;

/** Tells what a form did, once, on the page that it leads to. A cookie of this session carries it, so no address does. */
@Injectable()
export class Notices {
  constructor(private readonly cookies: Cookies) {}

  leave(me: SignedIn, response: Response, text: string): void {
    this.cookies.set(response, 'notice', `${Buffer.from(text).toString('base64url')}.${tokenOf(me, text)}`, LIFE_MS);
  }

  take(me: SignedIn, response: Response): string | null {
    const kept = this.cookies.read(response.req, 'notice');
    if (kept === null) return null;
    this.cookies.clear(response, 'notice');
    const [encoded = '', token = ''] = kept.split('.');
    const text = Buffer.from(encoded, 'base64url').toString();
    return isSame(token, tokenOf(me, text)) ? text : null;
  }
}

const tokenOf = ({ secret, workspaceId }: SignedIn, text: string): string =>
  createHmac('sha256', secret).update(`notice ${workspaceId} ${text}`).digest('base64url');
