import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import type { Express } from 'express';

/** Serves what is made at the first request. All responses share its bytes. A browser may keep them for five minutes by default. */
export function serveFile(
  express: Express,
  path: string,
  mediaType: string,
  make: () => string | Buffer,
  caching = 'public, max-age=300',
): void {
  let made: { readonly bytes: Buffer; readonly tag: string } | undefined;
  express.get(path, (request, response) => {
    const { bytes, tag } = (made ??= tagged(make()));
    response.setHeader('Cache-Control', caching);
    response.setHeader('ETag', tag);
    if (request.headers['if-none-match']?.includes(tag)) response.status(304).end();
    else response.type(mediaType).send(bytes);
  });
}

function tagged(content: string | Buffer): { readonly bytes: Buffer; readonly tag: string } {
  const bytes = Buffer.from(content);
  return { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}

export const projectPath = (path: string): string => join(dirname(require.resolve('#package')), path);

/** The text of a file of the project. */
export const projectFile = (path: string): string => readFileSync(projectPath(path), 'utf8');

/** A script, a style or a page that is sent to browsers as it is. */
export const browserFile = (name: string): string => projectFile(`libs/docs-site/src/browser/${name}`);

/** Serves scripts and styles below /docs. */
export function serveBrowserFiles(express: Express, names: readonly string[]): void {
  for (const name of names) serveFile(express, `/docs/${name}`, extname(name), () => browserFile(name));
}
