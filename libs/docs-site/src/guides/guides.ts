import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { escapeHtml } from '#libs/kernel';
import type { Express } from 'express';
import { browserFile, projectFile, serveBrowserFiles, serveFile } from '../served-file';
import { type BuiltGuides, readBuiltGuides } from './built-guides';
import { EXAMPLE_ADDRESS, GUIDES, PROGRAM } from './guide-list';

/**
 * Serves the customers' guides at /docs/guides, under the content security policy of /docs. They need no token.
 * The build made them; the first request reads them.
 */
export function serveGuides(app: NestExpressApplication, baseUrl: string): void {
  const express = app.getHttpAdapter().getInstance() as Express;
  const serve = serveFile.bind(null, express);
  let read: BuiltGuides | undefined;
  const guides = (): BuiltGuides => (read ??= readBuiltGuides());
  const addressed = (html = ''): string => html.replaceAll(EXAMPLE_ADDRESS, () => escapeHtml(baseUrl));
  serve('/docs/guides', 'html', () => addressed(guides().overview));
  for (const { name } of GUIDES) serve(`/docs/guides/${name}`, 'html', () => addressed(guides().pages[name]));
  serve(`/docs/guides/${PROGRAM.name}`, 'text/plain; charset=utf-8', () => projectFile(PROGRAM.file));
  serve('/docs/guides.css', 'css', () => browserFile('base.css') + browserFile('guides.css'));
  serveBrowserFiles(express, ['guides.js', 'guides-search.js', 'guides-wide.js']);
  serve('/docs/guides-index.json', 'json', () => JSON.stringify(guides().index));
  serve('/docs/minisearch.js', 'js', searchLibrary);
  express.get('/docs/guides/', (_request, response) => response.redirect('../guides'));
}

/** The library as a module for browsers. */
const searchLibrary = (): string =>
  readFileSync(join(dirname(require.resolve('minisearch')), '../es/index.js'), 'utf8').replace(/^\/\/# source.*$/m, '');
