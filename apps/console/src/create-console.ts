import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { UploadFiles, serveFiles } from '#libs/console';
import { type Settings } from '#libs/platform/config';
import { PipelinedRequests, boundConnections, strictExpress, trustProxies } from '#libs/platform/http/server';
import { CURSOR_KEYS, assertKeysReadable, makeMissingKeys } from '#libs/platform/keys';
import { ProcessLogger } from '#libs/platform/observability';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { secretFiles } from '../../features';
import { ConsoleAppModule } from './console-app.module';
import { assertIssuerSecretReadable } from './console-settings';
import { firstSteps } from './first-steps';

/** Creates the configured console, not yet listening. `main.ts` and every test use it. */
export async function createConsole(settings: Settings, log: Logger): Promise<NestExpressApplication> {
  if (!settings.production) await makeMissingKeys(settings, secretFiles, [CURSOR_KEYS]);
  assertKeysReadable(settings, secretFiles);
  assertIssuerSecretReadable(settings);
  const server = strictExpress();
  server.set('query parser', 'simple');
  const app = await NestFactory.create<NestExpressApplication>(
    ConsoleAppModule.forRoot(settings),
    new ExpressAdapter(server),
    { bodyParser: false, logger: new ProcessLogger(log), abortOnError: false },
  );
  trustProxies(server, settings.trustedProxies);
  const pipelined = new PipelinedRequests();
  app.use((_: Request, response: Response, next: NextFunction) => pipelined.enter(response, next));
  app.use(firstSteps(settings, log));
  serveFiles(server);
  await app.init();
  boundConnections(app.getHttpServer());
  app.getHttpServer().once('listening', () => app.get(UploadFiles).empty());
  // An upload of 100 MB arrives in half an hour at 450 kbit/s.
  app.getHttpServer().requestTimeout = 1_800_000;
  return app;
}
