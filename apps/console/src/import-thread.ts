import 'reflect-metadata';
import { parentPort, workerData } from 'node:worker_threads';
import { NestFactory } from '@nestjs/core';
import { auditRecording } from '#libs/audit/operators';
import type { ImportNews, ImportOrder } from '#libs/console';
import { ImportsService, importServices } from '#libs/inventory/operators';
import { Clock } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import { DatabaseModule } from '#libs/platform/database';
import { runImport } from './run-import';

/** The program of a thread, which runs one import at a time. */

/** An import merges while it reads. */
const POOL_SIZE = 2;

const tell = (news: ImportNews): void => parentPort?.postMessage(news);

const settings = Object.assign(new Settings(), workerData as Settings);
const app = NestFactory.createApplicationContext(
  {
    module: class ImportThread {},
    imports: [DatabaseModule.forRoot({ url: settings.databaseUrl, poolSize: POOL_SIZE, patience: 'operator' })],
    providers: [{ provide: Settings, useValue: settings }, Clock, ...auditRecording, ...importServices],
  },
  { logger: false, abortOnError: false },
);

parentPort?.on('message', (order: ImportOrder) => void run(order));

/** An error ends the thread, and is the console's. */
async function run(order: ImportOrder): Promise<void> {
  tell({ end: await runImport((await app).get(ImportsService), order, tell) });
}
