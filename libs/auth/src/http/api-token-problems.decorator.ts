import { applyDecorators } from '@nestjs/common';
import { ApiProblemsAs, PUBLIC_RESPONSES, chargedHeaders } from '#libs/platform/openapi';
import { PROBLEM_MEDIA_TYPE } from '#libs/platform/problems';
import { TOKEN_PROBLEMS, tokenExampleName } from './token-problem';
import { TokenProblemDto } from './token-problem.dto';

/** Documents the problems of the token endpoint with RFC 6749's members. Clients that accept only plain JSON get it. */
export const ApiTokenProblems = (): MethodDecorator =>
  applyDecorators(
    ApiProblemsAs(
      {
        body: TokenProblemDto,
        mediaTypes: [PROBLEM_MEDIA_TYPE, 'application/json'],
        exampleOf: tokenExampleName,
        headersOf: (status) => {
          if (status === 401) return { 'WWW-Authenticate': 'sometimes' };
          if (status === 413 || status === 415) return {};
          // Other statuses may follow a charge, as every request with a correct secret is charged.
          return chargedHeaders(status === 429 ? 'always' : 'sometimes');
        },
      },
      TOKEN_PROBLEMS,
    ),
    // Node's parser refuses an oversized header block before the route is known.
    ApiProblemsAs(PUBLIC_RESPONSES, ['headers_too_large']),
  );
