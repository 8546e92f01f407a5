import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import { type Guide, GUIDES, PROGRAM } from './guide-list';
import { renderGuide } from './guide-markdown';
import { type RenderedGuides, guideOverview, guidePage } from './guide-page';
import { improveGuide } from './guide-script';
import { SEARCH_OPTIONS, searchIndex, searchLibrary } from './guide-search';
import { GUIDE_STYLE } from './guide-style';
import { markWide } from './scroll-script';
import { searchGuides } from './search-script';

/** The address in the Markdown that stands for the one of this API. */
const EXAMPLE_ADDRESS = 'https://api.example.com';

/**
 * Serves the customers' guides at /docs/guides, under the content security policy of /docs. They need no token.
 * The pages are rendered once, at the first request.
 */
export function serveGuides(app: NestExpressApplication, baseUrl: string): void {
  const express = app.getHttpAdapter().getInstance() as Express;
  const serve = (path: string, mediaType: string, make: () => string): void => {
    let file: ServedFile | undefined;
    express.get(path, (request, response) => {
      file ??= servedFile(make());
      response.setHeader('Cache-Control', 'public, max-age=300');
      response.setHeader('ETag', file.tag);
      if (request.headers['if-none-match']?.includes(file.tag)) response.status(304).end();
      else response.type(mediaType).send(file.bytes);
    });
  };
  let guides: RenderedGuides | undefined;
  const rendered = (): RenderedGuides => (guides ??= renderGuides(baseUrl));
  serve('/docs/guides', 'html', () => guideOverview(rendered()));
  for (const guide of GUIDES) serve(`/docs/guides/${guide.name}`, 'html', () => guidePage(guide, rendered()));
  serve(`/docs/guides/${PROGRAM.name}`, 'text/plain; charset=utf-8', () => textOf(PROGRAM));
  serve('/docs/guides.css', 'css', () => GUIDE_STYLE);
  const search = `(${searchGuides.toString()})(${JSON.stringify(SEARCH_OPTIONS)})`;
  const script = `'use strict';\n(${improveGuide.toString()})();\n(${markWide.toString()})();\n${search};\n`;
  serve('/docs/guides.js', 'js', () => script);
  serve('/docs/guides-index.json', 'json', () => searchIndex(rendered()));
  serve('/docs/minisearch.js', 'js', searchLibrary);
  express.get('/docs/guides/', (_request, response) => response.redirect('../guides'));
}

interface ServedFile {
  readonly bytes: Buffer;
  readonly tag: string;
}

function servedFile(text: string): ServedFile {
  const bytes = Buffer.from(text);
  return { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}

const textOf = ({ file }: Guide): string => readFileSync(join(dirname(require.resolve('#package')), file), 'utf8');

function renderGuides(baseUrl: string): RenderedGuides {
  return new Map(
    GUIDES.map((guide) => {
      return [guide, renderGuide(textOf(guide).replaceAll(EXAMPLE_ADDRESS, baseUrl), guide.file)];
    }),
  );
}
