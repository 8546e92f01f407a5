import type { NestExpressApplication } from '@nestjs/platform-express';
import type { OpenAPIObject } from '@nestjs/swagger';
import { prefersPage } from '#libs/platform';
import type { Express, Request, Response } from 'express';
import helmet from 'helmet';
import { explorerDocument } from './explorer-document';
import { EXPLORER_PAGE, EXPLORER_STYLE } from './explorer-page';
import { startExplorer } from './explorer-script';

/**
 * The page at /docs around Swagger UI, whose own parts somebody else must serve beside it. The stock page would need
 * inline styles and is unreadable on a phone; this one runs under a policy that allows nothing inline and no other host.
 */
export function serveExplorer(app: NestExpressApplication, contract: () => OpenAPIObject): void {
  app.use(
    '/docs',
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          'default-src': ["'none'"],
          'script-src': ["'self'"],
          'style-src': ["'self'"],
          'img-src': ["'self'", 'data:'],
          'connect-src': ["'self'"],
          'base-uri': ["'none'"],
          'form-action': ["'none'"],
          'frame-ancestors': ["'none'"],
        },
      },
      // The page may be served by plain HTTP, on a laptop or behind a proxy that ends TLS.
      strictTransportSecurity: false,
    }),
  );
  // A layer and no route: for everybody but a browser there is nothing at `/`, so other methods get 404 and not 405.
  app.use((request: Request, response: Response, next: () => void) => {
    const asksForPage = request.path === '/' && ['GET', 'HEAD'].includes(request.method) && prefersPage(request);
    if (asksForPage) response.vary('Accept').redirect('docs');
    else next();
  });
  const express = app.getHttpAdapter().getInstance() as Express;
  const serve = (path: string, mediaType: string, text: () => string): void => {
    express.get(path, (_request, response) => response.type(mediaType).send(text()));
  };
  serve('/docs', 'html', () => EXPLORER_PAGE);
  serve('/docs/explorer.css', 'css', () => EXPLORER_STYLE);
  let script: string | undefined;
  serve('/docs/explorer.js', 'js', () => (script ??= scriptFor(contract())));
  // The page has one address, from which its parts are found; a fragment survives the way there.
  for (const path of ['/docs/', '/docs/index.html']) {
    express.get(path, (_request, response) => response.redirect('../docs'));
  }
}

function scriptFor(contract: OpenAPIObject): string {
  return `'use strict';\n(${startExplorer.toString()})(${JSON.stringify(explorerDocument(contract))});\n`;
}
