import { leaveSignalsToGracefulStop } from '../../stop-before-serving';
import 'reflect-metadata';
import { assertRuntimeRole } from '#libs/platform/database';
import { logOfProcess } from '#libs/platform/observability';
import { reasonOfFailedStart, serve } from '#libs/platform/process';
import { DataSource } from 'typeorm';
import { schema } from '../../whole-schema';
import { loadConsoleSettings } from './console-settings';
import { createConsole } from './create-console';

async function main(): Promise<void> {
  const settings = await loadConsoleSettings(process.env);
  const { output, log } = logOfProcess(settings.logLevel, settings.logFormat);
  const app = await createConsole(settings, log);
  await assertRuntimeRole(app.get(DataSource), settings.production, (warning) => log.warn(warning));

  const { port, host, managementPort, managementHost, url } = settings.console;
  await serve(app, {
    ...{ log, output, schema, stop: { begun: false }, url, baseUrl: settings.baseUrl },
    databaseUrl: settings.databaseUrl,
    listener: { setting: 'CONSOLE_PORT', port, host },
    management: { setting: 'CONSOLE_MANAGEMENT_PORT', port: managementPort, host: managementHost },
  });
  leaveSignalsToGracefulStop();
}

main().catch((error: unknown) => {
  process.stderr.write(`${reasonOfFailedStart(error)}\n`);
  process.exit(1);
});
