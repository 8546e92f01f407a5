import { makeAccessible } from './explorer-access.js';
import { followColours } from './explorer-colours.js';
import { foldErrors } from './explorer-errors.js';

const root = new URL('..', import.meta.url).href.replace(/\/$/, '');

/**
 * Starts Swagger UI.
 *
 * The page calls the origin it was loaded from, which may differ from the base URL. For a browser `localhost` and
 * 127.0.0.1 are different origins, and the API allows only its own. The contract keeps the base URL.
 */
function startExplorer(document) {
  document.servers = [{ url: root }];
  document.externalDocs = { description: 'The contract (OpenAPI)', url: `${root}/docs/openapi.json` };
  for (const { flows } of Object.values(document.components.securitySchemes)) {
    for (const flow of Object.values(flows ?? {})) flow.tokenUrl = `${root}/oauth/token`;
  }

  /** crypto.randomUUID is missing on pages loaded by plain HTTP from another machine. */
  const freshKey = () => {
    const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
    // Version 4, variant 1 (RFC 9562).
    const marked = bytes.map((byte, index) =>
      index === 6 ? (byte % 16) + 64 : index === 8 ? (byte % 64) + 128 : byte,
    );
    const digits = marked.map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  };
  const giveFreshKey = ({ specActions }, path, method) => {
    const parameters = document.paths[path]?.[method]?.parameters ?? [];
    if (parameters.some(({ name }) => name === 'Idempotency-Key')) {
      specActions.changeParam([path, method], 'Idempotency-Key', 'header', freshKey());
    }
  };
  const noSecretKept = {
    statePlugins: {
      auth: {
        wrapActions: {
          // The browser keeps the token over reloads. The secret is not needed there.
          authorizeOauth2: (original) => {
            return ({ auth, token }) => original({ auth: { ...auth, clientSecret: '' }, token });
          },
        },
      },
    },
  };
  const freshKeys = {
    statePlugins: {
      spec: {
        wrapActions: {
          // Called for every response and for every failed request.
          setResponse: (original, system) => {
            return (path, method, response) => {
              giveFreshKey(system, path, method);
              return original(path, method, response);
            };
          },
          // Swagger UI keeps typed values apart from set ones. A typed key would override every new one.
          changeParamByIdentity: (original, { specActions }) => {
            return (operation, parameter, value, isXml) =>
              parameter.get('name') === 'Idempotency-Key'
                ? specActions.changeParam(operation, 'Idempotency-Key', 'header', value)
                : original(operation, parameter, value, isXml);
          },
        },
      },
    },
  };

  const ui = SwaggerUIBundle({
    spec: document,
    dom_id: '#explorer',
    plugins: [freshKeys, noSecretKept, foldErrors],
    deepLinking: true,
    tryItOutEnabled: true,
    persistAuthorization: true,
    displayRequestDuration: true,
    showCommonExtensions: true,
    defaultModelsExpandDepth: 0,
    // The default validator is an external server.
    validatorUrl: null,
    requestInterceptor: (request) => {
      const isForm = request.headers['Content-Type'] === 'application/x-www-form-urlencoded';
      // Swagger UI sends empty fields; omit them.
      const body = isForm ? String(request.body).replace(/&[^=&]+=(?=&|$)/g, '') : request.body;
      // With credentials, a wrong secret in HTTP Basic would open a browser dialog and hide the response.
      return { ...request, body, credentials: 'omit' };
    },
  });
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods)) giveFreshKey(ui, path, method);
  }
}

followColours();
makeAccessible();
const response = await fetch(`${root}/docs/explorer.json`).catch(() => null);
if (response?.ok) startExplorer(await response.json());
else document.getElementById('explorer').append('The contract could not be loaded. Reload the page.');
