import { readFileSync } from 'node:fs';

/** Version of the service, as package.json and the changelog name it. Several of them serve one version of the API. */
export const SERVICE_VERSION = (
  JSON.parse(readFileSync(require.resolve('#package'), 'utf8')) as { readonly version: string }
).version;
