import type { OpenAPIObject } from '@nestjs/swagger';
import { CLIENT_CREDENTIALS_SCHEME } from '#libs/platform/http';
import { type Components, type Operation, type Parameter, operationsOf } from '#libs/platform/openapi';

type Body = Extract<NonNullable<Operation['requestBody']>, { content: object }>;
type Schema = Extract<NonNullable<Components['schemas']>[string], { type?: unknown }>;

const FORM = 'application/x-www-form-urlencoded';

const ONE_TOKEN = `**One token is active per application.** A new token ends the previous one. So use an application of its own
for this page; otherwise a script with the same client id gets 401 \`token_superseded\`.

Superseded or expired? Log out here and authorize again. The browser keeps the token until you log out, and never the secret.

Tick no scope to get every granted scope. A scope that was not granted gets \`invalid_scope\`.`;

const FRESH_KEY =
  'The page fills in a fresh key for each try. To see a replay, put the previous key back; its `curl` line shows it.';

const FORM_HINT =
  '**This ends the active token of the application.** If this page uses the same client id, log out and authorize again afterwards.';

/** Bodies that fit every asset. The contract's own examples name ids that do not exist. */
const FIRST_TRIES: Readonly<Record<string, { readonly summary: string; readonly value: object }>> = {
  updateAsset: { summary: 'Set the description', value: { description: 'Reviewed' } },
};

/** Headings below those of the resources, which a reader comes for. */
const LAST_TAGS = ['Audit', 'Authentication', 'Health'];

/**
 * Adapts the contract for Swagger UI, which sends a parameter's example unless the user clears it. So examples of
 * parameters become text, and hints for users are added.
 */
export function explorerDocument(contract: OpenAPIObject): OpenAPIObject {
  const document = structuredClone(contract);
  document.tags?.sort((one, other) => LAST_TAGS.indexOf(one.name) - LAST_TAGS.indexOf(other.name));
  const parameters = [
    ...Object.values(document.components?.parameters ?? {}),
    ...operationsOf(document).flatMap((operation) => operation.parameters ?? []),
  ];
  for (const parameter of parameters) if ('name' in parameter) tellExample(parameter);
  // Swagger UI would filter by the example of an enum.
  for (const schema of Object.values(document.components?.schemas ?? {})) if ('enum' in schema) delete schema.example;
  for (const operation of operationsOf(document)) {
    tellHeadersOnce(operation);
    const { requestBody } = operation;
    if (!requestBody || !('content' in requestBody)) continue;
    prepareBody(operation, requestBody);
    if (FORM in requestBody.content) offerEmptyForm(operation, requestBody, document);
  }
  const scheme = document.components?.securitySchemes?.[CLIENT_CREDENTIALS_SCHEME];
  if (scheme && 'type' in scheme) scheme.description = ONE_TOKEN;
  return document;
}

function tellExample(parameter: Parameter): void {
  const schema = parameter.schema as Schema | undefined;
  const example: unknown = parameter.example ?? schema?.example;
  delete parameter.example;
  delete schema?.example;
  if (parameter.name === 'Idempotency-Key') parameter.description += ` ${FRESH_KEY}`;
  else if (typeof example === 'string') parameter.description += ` Example: \`${example}\``;
}

/**
 * Lists headers at the success response only. Repeating ten headers for a dozen responses would hide the differences.
 */
function tellHeadersOnce({ responses = {} }: Operation): void {
  const { '200': success, ...others } = responses;
  const told = success && 'headers' in success ? Object.keys(success.headers ?? {}) : [];
  for (const response of Object.values(others)) {
    if (response && 'headers' in response) for (const name of told) delete response.headers?.[name];
  }
}

function prepareBody(operation: Operation, body: Body): void {
  const first = FIRST_TRIES[operation.operationId ?? ''];
  if (first === undefined) return;
  for (const content of Object.values(body.content)) content.examples = { first, ...content.examples };
}

/** Swagger UI fills in examples, but an example client does not exist. */
function offerEmptyForm(operation: Operation, body: Body, document: OpenAPIObject): void {
  const content = body.content[FORM];
  operation.description = `${operation.description ?? ''}\n\n${FORM_HINT}`;
  delete content?.examples;
  const reference = content?.schema && '$ref' in content.schema ? content.schema.$ref.split('/').at(-1) : undefined;
  const { properties = {}, required = [] } = (document.components?.schemas?.[reference ?? ''] ?? {}) as Schema;
  for (const [name, property] of Object.entries(properties)) {
    // Without an example Swagger UI would fill in "string".
    if (!required.includes(name)) (property as Schema).example = '';
  }
}
