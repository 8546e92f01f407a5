import { createHash } from 'node:crypto';
import { convertV2 } from 'openapi-to-postmanv2';

interface Parameter {
  readonly key: string;
  value?: string;
  disabled?: boolean;
  readonly description?: { readonly content?: string };
}

interface Item {
  id?: string;
  readonly name: string;
  readonly item?: Item[];
  readonly request?: {
    readonly method: string;
    readonly url: { readonly path: string[]; query?: Parameter[]; variable?: Parameter[] };
    header: Parameter[];
    readonly body?: { readonly urlencoded?: Parameter[]; raw?: string };
    auth?: object | null;
  };
  response?: object[];
}

interface Collection {
  item: Item[];
  auth?: object;
  variable?: Parameter[];
  info: { _postman_id?: string; name: string };
}

/** With an id of each resource, the only values that users must set. */
const VARIABLES: readonly Parameter[] = [
  { key: 'baseUrl', value: 'http://127.0.0.1:3000' },
  { key: 'clientId', value: '' },
  { key: 'clientSecret', value: '' },
];

const CLIENT_CREDENTIALS = {
  type: 'oauth2',
  oauth2: Object.entries({
    grant_type: 'client_credentials',
    accessTokenUrl: '{{baseUrl}}/oauth/token',
    clientId: '{{clientId}}',
    clientSecret: '{{clientSecret}}',
    client_authentication: 'header',
    addTokenTo: 'header',
    tokenName: 'compliance-api',
  }).map(([key, value]) => ({ key, value, type: 'string' })),
};

const FILLED: Readonly<Record<string, string>> = {
  grant_type: 'client_credentials',
  client_id: '{{clientId}}',
  client_secret: '{{clientSecret}}',
  'Idempotency-Key': '{{$guid}}',
};

const REVIEWED = { classification: 'INTERNAL', description: 'Reviewed' };
const BODIES: Readonly<Record<string, object>> = {
  'PATCH v1/inventory/assets': { ids: ['{{assetId}}'], patch: REVIEWED },
  'PATCH v1/inventory/assets/:id': REVIEWED,
};

/** Returns a Postman collection of the contract, always the same text for the same contract. */
export async function postmanCollection(contract: object): Promise<string> {
  const collection = await converted(contract);
  collection.info._postman_id = idOf('collection');
  collection.auth = CLIENT_CREDENTIALS;
  const ids = new Set<string>();
  for (const folder of collection.item) for (const item of folder.item ?? [folder]) finish(item, ids);
  collection.variable = [...VARIABLES, ...[...ids].sort().map((key) => ({ key, value: '' }))];
  return `${JSON.stringify(collection, null, 2)}\n`;
}

async function converted(contract: object): Promise<Collection> {
  const options = {
    folderStrategy: 'Tags',
    parametersResolution: 'Example',
    enableOptionalParameters: false,
    keepImplicitHeaders: true,
  } as const;
  return new Promise((resolve, reject) => {
    // The converter modifies its input.
    const input = { type: 'json' as const, data: structuredClone(contract) };
    convertV2(input, options, (error, result) => {
      const collection = result?.output?.[0]?.data;
      if (collection) resolve(collection as unknown as Collection);
      else reject(error instanceof Error ? error : new Error(result?.reason ?? 'No collection was made.'));
    });
  });
}

/** The name of the variable for an id: `assetId` for `v1/inventory/assets/:id`. */
export const idVariableOf = (path: string): string => path.replace(/^.*?([^/]+)s(\/:id(\/history)?)?$/, '$1Id');

function finish(item: Item, ids: Set<string>): void {
  const { request } = item;
  if (!request) return;
  const path = request.url.path.join('/');
  item.id = idOf(`${request.method} ${path}`);
  const anonymous = path === 'oauth/token' || path === 'v1/health';
  if (anonymous) request.auth = { type: 'noauth' };
  else delete request.auth;
  for (const parameter of [...request.header, ...(request.body?.urlencoded ?? [])]) {
    const value = FILLED[parameter.key];
    if (value === undefined) parameter.disabled ||= isOptional(parameter);
    else Object.assign(parameter, { value, disabled: false });
  }
  if (request.body?.raw !== undefined) {
    request.body.raw = JSON.stringify(BODIES[`${request.method} ${path}`] ?? {}, null, 2);
  }
  for (const variable of request.url.variable ?? []) {
    ids.add(idVariableOf(path));
    variable.value = `{{${idVariableOf(path)}}}`;
  }
  // The converter invents missing parts of examples. The documentation shows the responses.
  item.response = [];
}

/** Headers that the converter adds have no description. */
function isOptional({ description }: Parameter): boolean {
  return description?.content !== undefined && !description.content.startsWith('(Required)');
}

/** The converter's ids are random; these stay the same for the same operation. */
function idOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
