import { browserFile, serveFile } from '#libs/docs-site';
import type { Express } from 'express';
import { CONSOLE_SCRIPT } from './views/script';
import { CONSOLE_STYLE } from './views/style';

/** Serves the files that pages load. A browser keeps none, so that no page meets those of another release. */
export function serveFiles(express: Express): void {
  serveFile(express, '/console.css', 'css', () => browserFile('base.css') + CONSOLE_STYLE, 'no-store');
  serveFile(express, '/console.js', 'js', () => CONSOLE_SCRIPT, 'no-store');
  // Browsers ask for it by themselves. There is none.
  express.get('/favicon.ico', (_request, response) => void response.status(204).end());
}
