import { Injectable } from '@nestjs/common';
import { Settings } from '#libs/platform/config';
import type { Request, Response } from 'express';

/** Lax, because a Strict cookie is not sent after the issuer's redirect. Values have characters of cookies only. */
const OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/', encode: String } as const;

/** Longest time of a browser at the issuer. */
export const SIGN_IN_MS = 600_000;

/** The address of a page, which leads to no other site and is no file. */
export const BOOKMARK = /^\/[a-z]+(?:\/(?!download)[\w-]+)?(?:\?[\w%&=+.*:-]{0,1000})?$/;

type Name = 'session' | 'sign_in' | 'notice' | 'page';

/** The cookies of the console. On https a browser takes them from this host only. */
@Injectable()
export class Cookies {
  private readonly secure: boolean;

  constructor(settings: Settings) {
    this.secure = settings.console.url.startsWith('https:');
  }

  read({ headers }: Request, name: Name): string | null {
    const wanted = `${this.nameOf(name)}=`;
    const found = (headers.cookie ?? '').split('; ').filter((pair) => pair.startsWith(wanted));
    // Two of them: somebody else set one.
    return found.length === 1 ? (found[0] as string).slice(wanted.length) : null;
  }

  /** Reads a cookie that serves once. */
  take(response: Response, name: Name): string | null {
    const value = this.read(response.req, name);
    if (value !== null) this.clear(response, name);
    return value;
  }

  /** Leaves a text for the page that a form leads to, so no address carries it. It is told once. */
  leaveNotice(response: Response, text: string): void {
    this.set(response, 'notice', Buffer.from(text).toString('base64url'), 60_000);
  }

  takeNotice(response: Response): string {
    return Buffer.from(this.take(response, 'notice') ?? '', 'base64url').toString();
  }

  set(response: Response, name: Name, value: string, maxAgeMs?: number): void {
    response.cookie(this.nameOf(name), value, { ...OPTIONS, secure: this.secure, maxAge: maxAgeMs });
  }

  clear(response: Response, name: Name): void {
    response.clearCookie(this.nameOf(name), { ...OPTIONS, secure: this.secure });
  }

  private nameOf(name: Name): string {
    return `${this.secure ? '__Host-' : ''}console_${name}`;
  }
}
