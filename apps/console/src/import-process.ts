import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { auditRecording } from '#libs/audit/operators';
import type { ImportNews, ImportOrder } from '#libs/console';
import { ImportsService, importServices } from '#libs/inventory/operators';
import { Clock } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import { DatabaseModule } from '#libs/platform/database';
import { runImport } from './run-import';

/** The program of a process that runs one import at a time for the console. */

const tell = (news: ImportNews): void => void process.send?.(news);

let app: Promise<INestApplicationContext> | undefined;

async function run(order: ImportOrder, settings: Settings): Promise<void> {
  app ??= NestFactory.createApplicationContext(
    {
      module: class ImportProcess {},
      // An import merges while it reads.
      imports: [DatabaseModule.forRoot({ url: settings.databaseUrl, poolSize: 2, patience: 'operator' })],
      providers: [{ provide: Settings, useValue: settings }, Clock, ...auditRecording, ...importServices],
    },
    { logger: false, abortOnError: false },
  );
  tell({ end: await runImport((await app).get(ImportsService), order, tell) });
}

process.on('message', ([order, settings]: [ImportOrder, Settings]) => void run(order, settings));
// Also that of a run. The console then ends this process.
process.on('uncaughtException', (error) => tell({ error }));
// A console that is gone wants no import.
process.once('disconnect', () => process.exit());
