import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { serveExplorer, serveGuides } from '#libs/docs-site';
import { SCOPE_MEANINGS } from '#libs/kernel';
import { API_VERSION, type Settings } from '#libs/platform/config';
import { CLIENT_CREDENTIALS_SCHEME } from '#libs/platform/http';
import { FEATURES } from '../../features';
import { completeContract } from './complete-contract';

const description = (baseUrl: string): string => `Read the asset inventory and the posture of its computers, and write \
governance metadata back.

- [Read the guides](${baseUrl}/docs/guides): first steps, and a page for each task with examples.
- [Try it in a browser](${baseUrl}/docs). [Look up an error](${baseUrl}/problems) with its cause and remedy.
- Get a token with your client id and secret. **One token is active per application**: a new token ends the previous one.
- Every error is \`application/problem+json\`. Let your program decide by \`code\`. An unknown path gets 404, a wrong method
  405 with \`Allow\`, and malformed HTTP 400, also without a token.
- Every write needs an \`Idempotency-Key\`. When in doubt, send the same request again with the same key.
- Every GET also works as HEAD.
- Lists of 1 kB and more are sent as gzip when \`Accept-Encoding\` allows it.
- Changes within a version are additive: new operations, parameters, fields and headers. Ignore fields that you do not know.
  A field with \`x-extensible-enum\` may take new values.`;

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
        description: 'Bearer token from `POST /oauth/token`. An operation needs one of the scopes that it lists.',
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
