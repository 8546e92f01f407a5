import { rmSync } from 'node:fs';
import { type ServicesOfTheRun } from './global-setup';

export default async function stopServices(): Promise<void> {
  const localDir = process.env['TEST_LOCAL_DIR'];
  if (localDir !== undefined) rmSync(localDir, { recursive: true, force: true });
  const { temporaryPostgres, temporaryRedis } = globalThis as ServicesOfTheRun;
  await temporaryRedis?.stop();
  await temporaryPostgres?.stop();
}
