import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Reported before anything is started. */
export class AddressUnavailable extends Error {}

/** Returns a free port: `port`, or any for 0. @throws {@link AddressUnavailable} with the setting at fault */
export async function reservePort(setting: string, host: string, port: number): Promise<number> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, 'listening');
    return (probe.address() as AddressInfo).port;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new AddressUnavailable(`${host}:${port} is taken; set ${setting} to another port.`);
    }
    const otherSetting = code === 'EACCES' ? setting : setting.replace('PORT', 'HOST');
    throw new AddressUnavailable(
      `${host}:${port} cannot be used (${code ?? 'unknown'}); set ${otherSetting} to another.`,
    );
  } finally {
    if (probe.listening) {
      probe.close();
      await once(probe, 'close');
    }
  }
}

/** Returns the address at which clients on this machine reach a server that listens on `host`. */
export function originOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
