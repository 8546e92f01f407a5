import type { Settings } from '#libs/platform/config';
import { ApiProcess } from './api-process';
import { AddressUnavailable, originOf, reservePort } from './listen-addresses';

/** The console beside the API. Where it cannot run, the API runs without it, and the banner says why. */
export class LocalConsole {
  private child: ApiProcess | null = null;

  /** Returns what the banner says of it, once it responds. A token makes the address one that signs in. */
  async serve(
    environment: NodeJS.ProcessEnv,
    { console: wanted, port: portOfApi, managementPort: managementPortOfApi }: Settings,
    databaseUrl: string | null,
    linkToken: string | null,
  ): Promise<string> {
    if (databaseUrl === null) return 'does not run: set CONSOLE_DATABASE_URL.';
    const ports = { CONSOLE_PORT: wanted.port, CONSOLE_MANAGEMENT_PORT: wanted.managementPort };
    // The API does not listen yet.
    for (const [setting, port] of Object.entries(ports)) {
      if (port === null || ![portOfApi, managementPortOfApi].includes(port)) continue;
      return `does not run: ${setting} is a port of the API; set another.`;
    }
    try {
      const port = await reservePort('CONSOLE_PORT', wanted.host, wanted.port);
      const { managementHost, managementPort } = wanted;
      if (managementPort !== null) await reservePort('CONSOLE_MANAGEMENT_PORT', managementHost, managementPort);
      const origin = originOf(wanted.host, port);
      const url = environment['CONSOLE_URL'] ? wanted.url : origin;
      this.child = new ApiProcess([], 'console');
      this.child.serve({
        ...environment,
        CONSOLE_PORT: String(port),
        CONSOLE_URL: url,
        ...(environment['CONSOLE_DATABASE_URL_FILE'] ? {} : { CONSOLE_DATABASE_URL: databaseUrl }),
      });
      if (!(await this.child.responses(origin))) return 'does not run: it ended by itself.';
      return linkToken === null || wanted.oidc ? url : `${url}/sign-in/link/${linkToken}`;
    } catch (error) {
      if (!(error instanceof AddressUnavailable)) throw error;
      return `does not run: ${error.message}`;
    }
  }

  async stop(): Promise<void> {
    await this.child?.stop();
  }
}
