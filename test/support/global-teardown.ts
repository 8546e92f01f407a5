import { type ServicesOfTheRun } from './global-setup';

export default async function stopServices(): Promise<void> {
  const { temporaryRedis, cleanup } = globalThis as ServicesOfTheRun;
  await temporaryRedis?.stop();
  await cleanup?.run();
}
