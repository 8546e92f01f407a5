import { readFileSync } from 'node:fs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { OpenAPIObject } from '@nestjs/swagger';
import { prefersPage } from '#libs/platform/http';
import type { Express } from 'express';
import helmet from 'helmet';
import { browserFile, serveBrowserFiles, serveFile } from '../served-file';
import { explorerDocument } from './explorer-document';

/** Files of Swagger UI that the page loads. */
const SWAGGER_UI_PARTS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'css',
  'swagger-ui-bundle.js': 'js',
  'favicon-32x32.png': 'png',
};

/**
 * Serves the page at /docs around Swagger UI, and the contract that it shows. Swagger UI's own page needs inline styles
 * and is unreadable on a phone. This one has a policy that allows nothing inline and no other host.
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
  const express = app.getHttpAdapter().getInstance() as Express;
  // For all methods: `/` exists for browsers only, so other methods get 404 and not 405.
  express.all('/', (request, response, next) => {
    if (['GET', 'HEAD'].includes(request.method) && prefersPage(request)) response.vary('Accept').redirect('docs');
    else next();
  });
  const serve = serveFile.bind(null, express);
  serve('/docs', 'html', () => browserFile('explorer.html'));
  serve('/docs/openapi.json', 'json', () => JSON.stringify(contract()));
  express.get('/openapi.json', (_request, response) => response.redirect('docs/openapi.json'));
  serve('/docs/explorer.json', 'json', () => JSON.stringify(explorerDocument(contract())));
  const scripts = ['explorer.js', 'explorer-access.js', 'explorer-colours.js', 'explorer-errors.js'];
  serveBrowserFiles(express, [...scripts, 'explorer.css']);
  for (const [part, mediaType] of Object.entries(SWAGGER_UI_PARTS)) {
    serve(`/docs/${part}`, mediaType, () => readFileSync(require.resolve(`swagger-ui-dist/${part}`)));
  }
  // The page has one address, because it finds its files relative to it. Redirects keep the fragment.
  for (const path of ['/docs/', '/docs/index.html']) {
    express.get(path, (_request, response) => response.redirect('../docs'));
  }
}
