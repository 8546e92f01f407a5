import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { type SCOPES } from '#libs/auth';
import { API_VERSION, type Settings } from '#libs/platform/config';
import { CLIENT_CREDENTIALS_SCHEME } from '#libs/platform/openapi';
import { FEATURES } from '../../features';
import { completeContract } from './complete-contract';
import { serveExplorer } from './explorer';
import { serveGuides } from './guides/guides';

const SCOPE_MEANINGS: Record<(typeof SCOPES)[number], string> = {
  'all:read': 'Read access to every resource, current and future.',
  'all:write': 'Write access to every resource.',
  'computers:read': 'Read monitored computers and device posture.',
  'inventory:read': 'Read the asset inventory.',
  'inventory:write': 'Update asset governance metadata.',
  'frameworks:read': 'Read compliance frameworks. No endpoint uses it in 1.0.0.',
};

const description = (
  baseUrl: string,
): string => `Machine-to-machine REST API: the asset inventory and the posture of its \
computers, page by page.

- Begin with the [guides](${baseUrl}/docs/guides). [Try it in a browser](${baseUrl}/docs).
  [Look up an error](${baseUrl}/problems): each code with its cause and remedy.
- Get a token by the client credentials grant. **One token is active per application**: a new one supersedes the one before.
- Errors are \`application/problem+json\` with stable codes; the address in \`type\` tells cause and remedy. An unknown path
  is answered 404, a method that a path does not have 405 with \`Allow\`, a request that is no well-formed HTTP 400, all
  before any token is looked at.
- Every write needs an \`Idempotency-Key\`. Send the same request again with the same key after any doubt.
- Every GET can be asked by HEAD as well.
- Lists of 1 kB and more are sent as gzip when \`Accept-Encoding\` allows it.
- Changes within a version are additive: new operations, new optional parameters and members of requests, new members of
  answers. Ignore what you do not know. Members with \`x-extensible-enum\` may take new values.`;

/** Generates the contract from the routes. */
export function createApiDocument(app: NestExpressApplication, settings: Pick<Settings, 'baseUrl'>): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Compliance Platform Public API')
    .setDescription(description(settings.baseUrl))
    .setVersion(API_VERSION)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(settings.baseUrl)
    .addOAuth2(
      {
        type: 'oauth2',
        description: 'Bearer token of `POST /oauth/token`. An operation needs one of the scopes that it lists.',
        flows: { clientCredentials: { tokenUrl: `${settings.baseUrl}/oauth/token`, scopes: SCOPE_MEANINGS } },
      },
      CLIENT_CREDENTIALS_SCHEME,
    );
  for (const { tag } of FEATURES) if (tag) builder.addTag(tag.name, tag.description);
  builder.addTag('Health', 'Liveness.');
  return completeContract(SwaggerModule.createDocument(app, builder.build()), settings.baseUrl);
}

/** Serves Swagger UI at /docs, the contract at /docs/openapi.json and the guides at /docs/guides, all without a token. */
export function serveApiDocument(app: NestExpressApplication, settings: Settings): void {
  let contract: OpenAPIObject | undefined;
  const document = (): OpenAPIObject => (contract ??= createApiDocument(app, settings));
  serveExplorer(app, document);
  serveGuides(app, settings.baseUrl);
}
