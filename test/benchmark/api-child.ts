// The API in a process of its own, for measurement by a client in another. Reports its port, and its CPU time on
// request.
import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadSettings } from '#libs/platform/config';
import { createApp } from '../../apps/api/src/create-app';
import { tellMeasurements } from './measured-process';

async function main(): Promise<void> {
  const app = await createApp(loadSettings(process.env));
  await app.listen(0, '127.0.0.1');
  const server = app.getHttpServer() as Server;
  tellMeasurements((server.address() as AddressInfo).port, () => {
    server.closeAllConnections();
    void app.close().then(() => process.exit(0));
  });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
