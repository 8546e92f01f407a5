import { applyDecorators } from '@nestjs/common';
import { ApiProblemsAs, PUBLIC_ANSWERS, chargedAnswer } from '#libs/platform/openapi';
import { PROBLEM_MEDIA_TYPE } from '#libs/platform/problems';
import { TOKEN_PROBLEMS, tokenExampleName } from './token-problem';
import { TokenProblemDto } from './token-problem.dto';

/** Documents the problems of the token endpoint: RFC 6749's members, and plain JSON for clients that name only that. */
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
          // Others may come of a request that was charged, as every one with a right secret is.
          return chargedAnswer(status === 429 ? 'always' : 'sometimes');
        },
      },
      TOKEN_PROBLEMS,
    ),
    // Node's parser refuses too large a header block before any route is known.
    ApiProblemsAs(PUBLIC_ANSWERS, ['headers_too_large']),
  );
