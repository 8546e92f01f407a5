import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** What cannot be had is told before anything is started. */
export class AddressUnavailable extends Error {}

/** The port that will be free for the API: `port`, or for 0 any. Throws {@link AddressUnavailable}. */
export async function reservePort(setting: 'PORT' | 'MANAGEMENT_PORT', host: string, port: number): Promise<number> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, 'listening');
    return (probe.address() as AddressInfo).port;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new AddressUnavailable(`${host}:${port} is taken by another process; set ${setting} to another port.`);
    }
    const otherSetting = code === 'EACCES' ? setting : setting.replace('PORT', 'HOST');
    throw new AddressUnavailable(
      `${host}:${port} cannot be had (${code ?? 'unknown'}); set ${otherSetting} to another.`,
    );
  } finally {
    if (probe.listening) {
      probe.close();
      await once(probe, 'close');
    }
  }
}

/** Where a client on this machine reaches a server that listens on `host`. */
export function originOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
