import { readFileSync } from 'node:fs';

/** Version of the public API, in the health response and the contract: one for all of /v1 (specification, Versioning). */
export const API_VERSION = '1.0.0';

/** Version of the service, as package.json and the changelog name it. Several of them serve one version of the API. */
export const SERVICE_VERSION = (
  JSON.parse(readFileSync(require.resolve('#package'), 'utf8')) as { readonly version: string }
).version;
