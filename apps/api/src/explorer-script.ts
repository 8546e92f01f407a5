/** The used part of Swagger UI. */
interface SwaggerUi {
  readonly specActions: {
    changeParam(operation: readonly [path: string, method: string], name: string, place: string, value: string): void;
  };
}
interface ExplorerDocument {
  servers?: { url: string }[];
  externalDocs?: { description: string; url: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, { parameters?: readonly { name?: string }[] }>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { flows?: Readonly<Record<string, { tokenUrl?: string }>> }>>;
  };
}
declare const location: { readonly href: string };
declare const SwaggerUIBundle: (options: object) => SwaggerUi;

/**
 * Starts Swagger UI in the browser. Sent as source text, so it must not use anything outside itself.
 *
 * The page calls the origin it was loaded from, which may differ from the base URL. For a browser `localhost` and
 * 127.0.0.1 are different origins, and the API allows only its own. The contract keeps the base URL.
 */
export function startExplorer(document: ExplorerDocument, otherPlugins: readonly (() => object)[]): void {
  const root = new URL('.', location.href).href.replace(/\/$/, '');
  document.servers = [{ url: root }];
  document.externalDocs = { description: 'The contract (OpenAPI)', url: `${root}/docs/openapi.json` };
  for (const { flows } of Object.values(document.components.securitySchemes)) {
    for (const flow of Object.values(flows ?? {})) flow.tokenUrl = `${root}/oauth/token`;
  }

  /** crypto.randomUUID is missing on pages loaded by plain HTTP from another machine. */
  const freshKey = (): string => {
    const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
    // Version 4, variant 1 (RFC 9562).
    const marked = bytes.map((byte, index) =>
      index === 6 ? (byte % 16) + 64 : index === 8 ? (byte % 64) + 128 : byte,
    );
    const digits = marked.map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  };
  const giveFreshKey = ({ specActions }: SwaggerUi, path: string, method: string): void => {
    const parameters = document.paths[path]?.[method]?.parameters ?? [];
    if (parameters.some(({ name }) => name === 'Idempotency-Key')) {
      specActions.changeParam([path, method], 'Idempotency-Key', 'header', freshKey());
    }
  };
  type SetResponse = (path: string, method: string, response: unknown) => unknown;
  type ChangeParameter = (
    operation: readonly [path: string, method: string],
    parameter: { get(member: string): unknown },
    value: string,
    isXml: boolean,
  ) => unknown;
  type Authorize = (grant: { readonly auth: object; readonly token: object }) => unknown;
  const noSecretKept = {
    statePlugins: {
      auth: {
        wrapActions: {
          // The browser keeps the token over reloads. The secret is not needed there.
          authorizeOauth2: (original: Authorize): Authorize => {
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
          setResponse: (original: SetResponse, system: SwaggerUi): SetResponse => {
            return (path, method, response) => {
              giveFreshKey(system, path, method);
              return original(path, method, response);
            };
          },
          // Swagger UI keeps typed values apart from set ones. A typed key would override every new one.
          changeParamByIdentity: (original: ChangeParameter, { specActions }: SwaggerUi): ChangeParameter => {
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
    plugins: [freshKeys, noSecretKept, ...otherPlugins],
    deepLinking: true,
    tryItOutEnabled: true,
    persistAuthorization: true,
    displayRequestDuration: true,
    showCommonExtensions: true,
    defaultModelsExpandDepth: 0,
    // The default validator is an external server.
    validatorUrl: null,
    requestInterceptor: (request: { body?: unknown; headers: Record<string, string> }) => {
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
