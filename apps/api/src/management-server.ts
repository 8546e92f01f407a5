import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { PROBLEM_MEDIA_TYPE, openContext, toProblem } from '#libs/platform';
import { DomainError } from '#libs/kernel';
import type { Readiness } from './readiness';

export interface ManagementRoutes {
  readonly readiness: () => Promise<Readiness>;
  /** The public halves of the signing keys (RFC 7517). */
  readonly jwks: () => object;
  readonly baseUrl: string;
}

type Answer = { readonly status: number; readonly body: object; readonly mediaType?: string };

/** What operators and orchestrators ask, on a port that clients do not reach (decisions, section 8). */
export function createManagementServer(routes: ManagementRoutes): Server {
  const answers: Readonly<Record<string, () => Promise<Answer> | Answer>> = {
    '/livez': () => ({ status: 200, body: { status: 'ok' } }),
    '/readyz': async () => {
      const { ready, checks } = await routes.readiness();
      return { status: ready ? 200 : 503, body: { status: ready ? 'ok' : 'unavailable', checks } };
    },
    '/jwks.json': () => ({ status: 200, body: routes.jwks() }),
  };
  return createServer((request, response) => {
    void answer(request, response, answers, routes.baseUrl);
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  answers: Readonly<Record<string, () => Promise<Answer> | Answer>>,
  baseUrl: string,
): Promise<void> {
  const { instance, requestId } = openContext(request, response);
  const refuse = (error: DomainError): Answer => {
    const problem = toProblem(error, { baseUrl, instance, requestId });
    return { status: problem.status, body: problem, mediaType: PROBLEM_MEDIA_TYPE };
  };
  const route = Object.hasOwn(answers, instance) ? answers[instance] : undefined;
  let result: Answer;
  if (!route) result = refuse(new DomainError('not_found', 'There is nothing at this path.'));
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    result = refuse(new DomainError('method_not_allowed', `${request.method ?? ''} is not allowed here.`));
  } else {
    result = await Promise.resolve()
      .then(route)
      .catch(() => refuse(new DomainError('internal_error', 'Something went wrong on our side.')));
  }
  response.statusCode = result.status;
  response.setHeader('Content-Type', result.mediaType ?? 'application/json; charset=utf-8');
  response.end(request.method === 'HEAD' ? undefined : JSON.stringify(result.body));
}
