import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiServerAdapter, trustProxies } from '#libs/platform/http/server';
import { ProcessLogger, createLog } from '#libs/platform/observability';
import { type Settings } from '#libs/platform/config';
import { assertAccessDeclared } from '#libs/platform/http';
import { assertKeysReadable, makeMissingKeys } from '#libs/platform/keys';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { secretFiles } from '../../features';
import { serveApiDocument } from './api-document';
import { AppModule } from './app.module';
import { applyFirstSteps } from './request-pipeline';

export interface AppOptions {
  readonly log?: Logger;
  /** Whether the instance is stopping. */
  readonly stop?: { readonly begun: boolean };
}

/** Creates the configured application, not yet listening. `main.ts` and every end-to-end test use it. */
export async function createApp(settings: Settings, options: AppOptions = {}): Promise<NestExpressApplication> {
  const log = options.log ?? createLog({ level: settings.logLevel, format: settings.logFormat });
  if (!settings.production) await makeMissingKeys(settings, secretFiles);
  assertKeysReadable(settings, secretFiles);
  const app = await NestFactory.create<NestExpressApplication>(
    await AppModule.forRoot(settings),
    new ApiServerAdapter(settings.baseUrl),
    { bodyParser: false, logger: new ProcessLogger(log), abortOnError: false },
  );
  assertAccessDeclared(app);
  trustProxies(app.getHttpAdapter().getInstance() as Express, settings.trustedProxies);
  applyFirstSteps(app, log, options.stop ?? { begun: false });
  serveApiDocument(app, settings);
  await app.init();
  return app;
}
