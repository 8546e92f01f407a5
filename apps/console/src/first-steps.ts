import type { Settings } from '#libs/platform/config';
import { logAccess, openContext, whenServed } from '#libs/platform/http';
import { closeUnread, hasTooManyHeaders, leavesChunks } from '#libs/platform/http/server';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';

/** Pages load their own style and script only, no site may frame them, and forms lead back here. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'";

/**
 * Steps before the router, for each request: an id and a log line, headers, then Host and Origin. A page of another site
 * that resolves its name to this address (DNS rebinding) sends another Host.
 */
export function firstSteps({ console: { url } }: Settings, log: Logger): RequestHandler {
  const { host } = new URL(url);
  return (request: Request, response: Response, next: NextFunction) => {
    openContext(request, response);
    closeUnread(request, response);
    whenServed(request, response, (served) => {
      const { workspaceId = null, personId = null } = request.signedIn ?? {};
      logAccess(log, { ...served, ...{ workspaceId, personId } });
    });
    response.setHeader('Content-Security-Policy', POLICY);
    // Under no-referrer browsers would send "Origin: null" with forms.
    response.setHeader('Referrer-Policy', 'same-origin');
    if (url.startsWith('https:')) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
    const { headers, headersDistinct, method } = request;
    if (hasTooManyHeaders(request)) return refuse(response, 'There are too many headers.', 431);
    // Browsers send none.
    if (leavesChunks(request, response)) return refuse(response, 'A form must tell its length.', 411);
    // Proxies may have read the other one (RFC 9112, 3.2).
    if (headersDistinct['host']?.length !== 1) return refuse(response, 'The Host header must be given once.', 400);
    if (headers.host !== host) return refuse(response, `The console is at ${url}.`);
    if (![undefined, url].includes(headers.origin) && !['GET', 'HEAD'].includes(method))
      return refuse(response, 'A page of another site sent this form.');
    next();
  };
}

function refuse(response: Response, reason: string, status = 403): void {
  response.status(status).type('text/plain').send(`${reason}\n`);
}
