import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { JSON_RESPONSE, openContext } from '../http';
import { PROBLEM_MEDIA_TYPE, toProblem } from '../problems';
import { DomainError } from '#libs/kernel';
import type { Readiness } from './readiness';

export interface ManagementRoutes {
  readonly readiness: () => Promise<Readiness>;
  /** The Prometheus text format with its media type. */
  readonly metrics: { readonly mediaType: string; expose(): Promise<string> };
  /** Public keys of the signing keys (RFC 7517), for a process that has some. */
  readonly jwks?: () => object;
  readonly baseUrl: string;
  /** Receives unexpected errors. */
  readonly onError: (requestId: string, error: unknown) => void;
}

interface Result {
  readonly status: number;
  readonly body: string;
  readonly mediaType: string;
}

type Routes = Readonly<Record<string, () => Promise<Result> | Result>>;

const json = (status: number, body: object, mediaType = JSON_RESPONSE): Result => ({
  status,
  body: JSON.stringify(body),
  mediaType,
});

/** Serves operators and orchestrators on a port that clients cannot reach. */
export function createManagementServer(routes: ManagementRoutes): Server {
  const { jwks } = routes;
  const served: Routes = {
    '/livez': () => json(200, { status: 'ok' }),
    '/readyz': async () => {
      const { ready, checks } = await routes.readiness();
      return json(ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', checks });
    },
    '/metrics': async () => ({
      status: 200,
      body: await routes.metrics.expose(),
      mediaType: routes.metrics.mediaType,
    }),
    ...(jwks ? { '/jwks.json': () => json(200, jwks()) } : {}),
  };
  return createServer((request, response) => {
    void respond(request, response, served, routes);
  });
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  served: Routes,
  { baseUrl, onError }: ManagementRoutes,
): Promise<void> {
  const { instance, requestId } = openContext(request, response);
  const refuse = (error: DomainError): Result => {
    const problem = toProblem(error, { baseUrl, instance, requestId });
    return json(problem.status, problem, PROBLEM_MEDIA_TYPE);
  };
  const route = Object.hasOwn(served, instance) ? served[instance] : undefined;
  let result: Result;
  if (!route) result = refuse(new DomainError('not_found', 'There is nothing at this path.'));
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    result = refuse(new DomainError('method_not_allowed', `${request.method ?? ''} is not allowed here.`));
  } else {
    result = await Promise.resolve()
      .then(route)
      .catch((error: unknown) => {
        onError(requestId, error);
        return refuse(new DomainError('internal_error', 'Something went wrong on our side.'));
      });
  }
  response.statusCode = result.status;
  response.setHeader('Content-Type', result.mediaType);
  response.setHeader('Content-Length', Buffer.byteLength(result.body));
  response.end(request.method === 'HEAD' ? undefined : result.body);
}
