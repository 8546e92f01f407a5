import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { type SCOPES } from '#libs/auth';
import { API_VERSION, CLIENT_CREDENTIALS_SCHEME, type Settings } from '#libs/platform';
import helmet from 'helmet';

const SCOPE_MEANINGS: Record<(typeof SCOPES)[number], string> = {
  'all:read': 'Read access to every resource, current and future.',
  'all:write': 'Write access to every resource.',
  'computers:read': 'Read monitored computers and device posture.',
  'inventory:read': 'Read the asset inventory.',
  'inventory:write': 'Update asset governance metadata.',
  'frameworks:read': 'Read compliance frameworks. No endpoint uses it in 1.0.0.',
};

/** The contract, generated from the routes. */
export function createApiDocument(app: NestExpressApplication, settings: Settings): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Compliance Platform Public API')
    .setDescription(
      'Machine-to-machine REST API: the asset inventory and the posture of its computers, page by page. ' +
        'Get a token by the client credentials grant; **one token is active per application**, a new one supersedes ' +
        'the one before. Errors are `application/problem+json` with stable codes.',
    )
    .setVersion(API_VERSION)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(settings.baseUrl)
    .addOAuth2(
      {
        type: 'oauth2',
        flows: { clientCredentials: { tokenUrl: `${settings.baseUrl}/oauth/token`, scopes: SCOPE_MEANINGS } },
      },
      CLIENT_CREDENTIALS_SCHEME,
    )
    .addBasicAuth({ type: 'http', scheme: 'basic', description: 'Client id and secret.' }, 'client')
    .build();
  return SwaggerModule.createDocument(app, builder);
}

/** Swagger UI at /docs and the contract at /docs/openapi.json; neither needs a token. */
export function serveApiDocument(app: NestExpressApplication, settings: Settings): void {
  app.use(
    '/docs',
    helmet({
      // The page may be served by plain HTTP, on a laptop or behind a proxy that ends TLS.
      contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
      strictTransportSecurity: false,
    }),
  );
  SwaggerModule.setup('docs', app, () => createApiDocument(app, settings), {
    jsonDocumentUrl: 'docs/openapi.json',
    raw: ['json'],
    customSiteTitle: 'Compliance Platform Public API',
    swaggerOptions: { deepLinking: true, persistAuthorization: true, displayRequestDuration: true },
  });
}
