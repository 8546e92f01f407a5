import { ERROR_CODES, type ErrorCode } from '#libs/kernel';
import { PROBLEMS } from '#libs/platform/problems';
import { type TestApp, startApp } from '../support/start-app';
import { type NamedOperation, operationsOf, readContract } from './contract-document';
import { CONTRACT_FILE } from './contract-files';
import { ProvokedResponses } from './provoked-responses';

const contract = readContract(CONTRACT_FILE);
const operations = operationsOf(contract);
const named = ({ operation }: NamedOperation): string => operation.operationId ?? '';

/** Documented responses that no client can provoke, with the reason. */
const NEVER_SEEN: Readonly<Record<string, string>> = {
  'getHealth 500 internal_error': 'It depends on nothing that could fail.',
  'getAuthorizationServer 500 internal_error': 'The same.',
  'getProtectedResource 500 internal_error': 'The same.',
  'getKeySet 500 internal_error': 'The same.',
  'issueToken 400 validation_failed':
    'Only when the body breaks off, and then the client has gone before the response.',
};
/** Documented headers that no client can provoke, by operation and status. */
const HEADERS_NEVER_SEEN: Readonly<Record<string, { readonly headers: RegExp; readonly reason: string }>> = {
  'getHealth 500': { headers: /./, reason: 'There is no such response.' },
  'getAuthorizationServer 500': { headers: /./, reason: 'The same.' },
  'getProtectedResource 500': { headers: /./, reason: 'The same.' },
  'getKeySet 500': { headers: /./, reason: 'The same.' },
  'issueToken 500': {
    headers: /RateLimit/,
    reason: 'Only when what is broken breaks between the charge and the token.',
  },
  'issueToken 503': { headers: /RateLimit/, reason: 'The same.' },
  'listCategories 500': {
    headers: /RateLimit/,
    reason: 'Once its caller is known and charged it asks nobody anything.',
  },
  'listCategories 503': { headers: /RateLimit/, reason: 'The same.' },
};

const codesOf = ({ operation }: NamedOperation, status: string): string[] =>
  Object.values(operation.responses[status]?.content ?? {}).flatMap(({ examples = {} }) => Object.keys(examples));
const documenting = (code: ErrorCode): NamedOperation[] =>
  operations.filter((one) => codesOf(one, String(PROBLEMS[code].status)).includes(code));

describe('Every documented response occurs', () => {
  let app: TestApp;
  let provoked: ProvokedResponses;
  beforeAll(async () => {
    app = await startApp();
    provoked = await ProvokedResponses.of(app);
  });
  afterAll(async () => {
    await provoked.stop();
    await app.stop();
  });

  it.each(operations.map((one) => [named(one), one] as const))('200 by %s', async (_, one) => {
    expect((await provoked.success(one)).status).toBe(200);
  });

  it.each(ERROR_CODES.map((code) => [PROBLEMS[code].status, code] as const))('%i %s', async (status, code) => {
    const expected = documenting(code).filter((one) => NEVER_SEEN[`${named(one)} ${status} ${code}`] === undefined);
    const answers = await provoked.problem(code, expected);
    const given = answers.map((response) => [response.status, response.body['code']]);
    expect(given).toEqual(expected.map(() => [status, code]));
  });

  it('except the listed ones, each documented and with a reason', () => {
    const documented = ERROR_CODES.flatMap((code) =>
      documenting(code).map((one) => `${named(one)} ${PROBLEMS[code].status} ${code}`),
    );
    expect(documented.length).toBeGreaterThan(100);
    expect(documented).toEqual(expect.arrayContaining(Object.keys(NEVER_SEEN)));
  });

  // Runs last, because it checks the responses of the other tests.
  it('with each of its documented headers', () => {
    const documented = operations.flatMap((one) =>
      Object.entries(one.operation.responses).flatMap(([status, { headers = {} }]) =>
        Object.keys(headers).map((name) => ({ response: `${named(one)} ${status}`, name })),
      ),
    );
    expect(documented.length).toBeGreaterThan(400);
    const unseen = documented.filter(({ response, name }) => !provoked.seen.has(`${response} ${name}`));
    const excused = documented.filter(({ response, name }) => HEADERS_NEVER_SEEN[response]?.headers.test(name));
    expect(unseen).toEqual(excused);
  });
});
