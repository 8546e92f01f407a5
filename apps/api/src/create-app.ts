import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { makeMissingKeys } from '#libs/auth';
import {
  ApiServerAdapter,
  ProcessLogger,
  type Settings,
  assertAccessDeclared,
  assertKeysReadable,
  createLog,
  trustProxies,
} from '#libs/platform';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { serveApiDocument } from './api-document';
import { AppModule } from './app.module';
import { applyFirstSteps } from './request-pipeline';

export interface AppOptions {
  readonly log?: Logger;
  /** Whether the process is on its way out. */
  readonly isStopping?: () => boolean;
}

/** The configured application, not yet listening: what `main.ts` serves and what every end-to-end test talks to. */
export async function createApp(settings: Settings, options: AppOptions = {}): Promise<NestExpressApplication> {
  const log = options.log ?? createLog({ level: settings.logLevel, format: settings.logFormat });
  if (!settings.production) await makeMissingKeys(settings);
  assertKeysReadable(settings);
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(settings),
    new ApiServerAdapter(settings.baseUrl),
    { bodyParser: false, logger: new ProcessLogger(log), abortOnError: false },
  );
  assertAccessDeclared(app);
  trustProxies(app.getHttpAdapter().getInstance() as Express, settings.trustedProxies);
  applyFirstSteps(app, log, options.isStopping ?? (() => false));
  serveApiDocument(app, settings);
  await app.init();
  return app;
}
