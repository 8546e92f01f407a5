import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import { madeOnce, projectFile, serveBrowserFiles, serveFile } from '../served-file';
import { GUIDES, type Guide, PROGRAM } from './guide-list';
import { type RenderedGuide, renderGuide } from './guide-markdown';
import { type RenderedGuides, guideOverview, guidePage } from './guide-page';
import { searchIndex, searchLibrary } from './guide-search';

/** The address in the Markdown that stands for the one of this API. */
const EXAMPLE_ADDRESS = 'https://api.example.com';

/**
 * Serves the customers' guides at /docs/guides, under the content security policy of /docs. They need no token.
 * The pages are rendered once, at the first request.
 */
export function serveGuides(app: NestExpressApplication, baseUrl: string): void {
  const express = app.getHttpAdapter().getInstance() as Express;
  const serve = serveFile.bind(null, express);
  const rendered = madeOnce(() => renderGuides(baseUrl));
  serve('/docs/guides', 'html', async () => guideOverview(await rendered()));
  for (const guide of GUIDES)
    serve(`/docs/guides/${guide.name}`, 'html', async () => guidePage(guide, await rendered()));
  serve(`/docs/guides/${PROGRAM.name}`, 'text/plain; charset=utf-8', () => projectFile(PROGRAM.file));
  serveBrowserFiles(express, ['guides.css', 'guides.js', 'guides-search.js', 'guides-wide.js']);
  serve('/docs/guides-index.json', 'json', async () => searchIndex(await rendered()));
  serve('/docs/minisearch.js', 'js', searchLibrary);
  express.get('/docs/guides/', (_request, response) => response.redirect('../guides'));
}

/** Renders the guides one by one, and lets other requests have their turns: all of them take a fifth of a second. */
export async function renderGuides(baseUrl: string): Promise<RenderedGuides> {
  const rendered = new Map<Guide, RenderedGuide>();
  for (const guide of GUIDES) {
    rendered.set(guide, renderGuide(projectFile(guide.file).replaceAll(EXAMPLE_ADDRESS, baseUrl), guide.file));
    await nextTurnOfLoop();
  }
  return rendered;
}
