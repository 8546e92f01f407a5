// Serves an empty route behind the guards, the same route without them, and a bare Express route, for measurement by a
// client in another process.
import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, type DynamicModule, Get, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express from 'express';
import { makeMissingKeys } from '#libs/platform/keys';
import { ApiServerAdapter } from '#libs/platform/http/server';
import { Public, RequireScope } from '#libs/platform/http';
import { type Settings, loadSettings } from '#libs/platform/config';
import { createLog } from '#libs/platform/observability';
import { secretFiles } from '../../../apps/features';
import { AppModule } from '../../../apps/api/src/app.module';
import { applyFirstSteps } from '../../../apps/api/src/request-pipeline';
import { tellMeasurements } from '../measured-process';

const RESPONSE = { status: 'ok' };

@Controller()
class NothingController {
  @Get('open')
  @Public()
  open(): object {
    return RESPONSE;
  }

  @Get('guarded')
  @RequireScope('inventory:read')
  guarded(): object {
    return RESPONSE;
  }
}

async function startNest(settings: Settings): Promise<Server> {
  await makeMissingKeys(settings, secretFiles);
  const log = createLog({ level: settings.logLevel, format: settings.logFormat });
  const app = await NestFactory.create<NestExpressApplication>(
    rootModule(await AppModule.forRoot(settings)),
    new ApiServerAdapter(settings.baseUrl),
    { bodyParser: false, logger: false, abortOnError: false },
  );
  applyFirstSteps(app, log, { begun: false });
  await app.listen(0, '127.0.0.1');
  return app.getHttpServer() as Server;
}

function rootModule(application: DynamicModule): Type {
  @Module({ imports: [application], controllers: [NothingController] })
  class GuardedModule {}
  return GuardedModule;
}

function startExpress(): Promise<Server> {
  const app = express().get('/open', (_request, response) => void response.json(RESPONSE));
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server));
  });
}

async function main(): Promise<void> {
  const server = process.argv[2] === 'express' ? await startExpress() : await startNest(loadSettings(process.env));
  tellMeasurements((server.address() as AddressInfo).port);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
