import type { ErrorCode } from '#libs/kernel';
import { PROBLEMS } from '#libs/platform/problems';
import { PUBLIC_RESPONSES, headerComponents, problemResponse } from '#libs/platform/openapi';
import { StrictSchemas } from './response-schemas';
import {
  type Contract,
  type Header,
  type Operation,
  type Response,
  operationsOf,
  readContract,
  resolve,
} from './contract-document';
import { CONTRACT_FILE } from './contract-files';

export interface GivenResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Public routes outside the contract, which describe themselves. */
const OUTSIDE_THE_CONTRACT = /^\/(docs|problems)(\/|$)/;
/** The root redirects browsers there. For other clients it is an unknown path. */
const sendsToTheDocs = (path: string, { status, headers }: GivenResponse): boolean =>
  path === '/' && status === 302 && headers.get('location') === 'docs';
/** Headers of the transport itself. */
const OF_TRANSPORT = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
]);

/** Responses that belong to no operation. Only the contract's introduction mentions them. */
const OF_NO_OPERATION = {
  malformedRequest: problemOfNoOperation('validation_failed'),
  unknownPath: problemOfNoOperation('not_found'),
  methodNotAllowed: problemOfNoOperation('method_not_allowed'),
};

function problemOfNoOperation(code: ErrorCode): Response {
  const response = problemResponse(PUBLIC_RESPONSES, PROBLEMS[code].status, [code]);
  const headers = headerComponents() as Record<string, Header>;
  const named = Object.keys(response.headers).map((name) => [name, headers[name]] as const);
  return { ...response, headers: Object.fromEntries(named) as Record<string, Header> };
}

/** Checks responses against the contract. Anything undocumented is a fault. */
export class ContractOracle {
  private readonly schemas: StrictSchemas;
  private readonly paths: readonly {
    readonly pattern: RegExp;
    readonly methods: Readonly<Record<string, Operation>>;
  }[];

  constructor(private readonly contract: Contract) {
    this.schemas = new StrictSchemas(contract);
    this.paths = Object.entries(contract.paths).map(([path, methods]) => ({
      pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
      methods,
    }));
    const answers = operationsOf(contract).flatMap(({ operation }) => Object.values(operation.responses));
    this.schemas.prepare([
      ...Object.values(contract.components.headers).map(({ schema }) => schema),
      ...[...answers, ...Object.values(OF_NO_OPERATION)].flatMap(({ content = {} }) =>
        Object.values(content).map(({ schema }) => schema),
      ),
    ]);
  }

  /** Returns the parts of a response that the contract does not document. `target` is the path with its query and fragment. */
  faultsOf(method: string, target: string, answer: GivenResponse): string[] {
    const [path = ''] = target.split(/[?#]/, 1);
    if (OUTSIDE_THE_CONTRACT.test(path) || sendsToTheDocs(path, answer)) return [];
    const response = this.responseTo(method, path, answer.status);
    if (!response) return [`status ${answer.status} is not documented`];
    return [...this.faultsOfHeaders(response, answer), ...this.faultsOfBody(method, response, answer)];
  }

  /** Checks a response of Node's parser, which belongs to no operation. */
  faultsOfRefusal(answer: GivenResponse): string[] {
    const [anyOperation] = operationsOf(this.contract);
    const { malformedRequest, unknownPath } = OF_NO_OPERATION;
    const refusals = { 400: malformedRequest, 404: unknownPath, 431: anyOperation?.operation.responses['431'] };
    const response = refusals[answer.status as 400 | 404 | 431];
    if (!response) return [`status ${answer.status} is not documented`];
    return [...this.faultsOfHeaders(response, answer), ...this.faultsOfBody('GET', response, answer)];
  }

  private responseTo(method: string, path: string, status: number): Response | undefined {
    const methods = this.paths.find(({ pattern }) => pattern.test(path))?.methods;
    if (!methods) return status === 404 ? OF_NO_OPERATION.unknownPath : undefined;
    const operation = methods[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (!operation) return status === 405 ? OF_NO_OPERATION.methodNotAllowed : undefined;
    return operation.responses[String(status)];
  }

  private faultsOfHeaders(response: Response, { headers }: GivenResponse): string[] {
    const documented = Object.entries(response.headers ?? {}).map(
      ([name, header]) => [name, resolve<Header>(this.contract, header)] as const,
    );
    const names = new Set(documented.map(([name]) => name.toLowerCase()));
    const unknown = [...headers.keys()].filter((name) => !names.has(name) && !OF_TRANSPORT.has(name));
    return [
      ...unknown.map((name) => `header ${name} is not documented`),
      ...documented.flatMap(([name, { required, schema }]) => {
        const value = headers.get(name);
        if (value === null) return required ? [`header ${name} is missing`] : [];
        const fault = this.schemas.faultOf(schema, schema.type === 'integer' ? Number(value) : value);
        return fault === null ? [] : [`header ${name}: ${fault}`];
      }),
    ];
  }

  private faultsOfBody(method: string, { content = {} }: Response, { status, headers, text }: GivenResponse): string[] {
    const [mediaType = ''] = (headers.get('content-type') ?? '').split(';', 1);
    const documented = content[mediaType];
    if (!documented) return [`media type ${mediaType || '(none)'} is not documented`];
    if (method === 'HEAD') return text === '' ? [] : ['a response to HEAD has a body'];
    const documents = mediaType === 'application/x-ndjson' ? text.trimEnd().split('\n') : [text];
    let bodies: unknown[];
    try {
      bodies = mediaType === 'text/plain' ? [text] : documents.map((one): unknown => JSON.parse(one));
    } catch {
      return ['the body is not JSON'];
    }
    const faults = bodies
      .map((body) => this.schemas.faultOf(documented.schema, body))
      .filter((fault) => fault !== null);
    if (faults.length > 0) return faults.map((fault) => `body: ${fault}`);
    if (status < 400) return [];
    const { code } = bodies[0] as { code: string };
    return code in (documented.examples ?? {}) ? [] : [`code ${code} is not documented`];
  }
}

/** Converts the headers of Node's own client. */
export function headersOf({ rawHeaders }: { readonly rawHeaders: readonly string[] }): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}

/** Set by jest's environment. Other programs make their own. */
const { ofWorker = {} } = globalThis as { ofWorker?: { oracle?: ContractOracle } };
/** Checks against the committed contract. Compiling it takes a third of a second, so all test files of a worker share it. */
export const oracle = (): ContractOracle => (ofWorker.oracle ??= new ContractOracle(readContract(CONTRACT_FILE)));

/** @throws unless the committed contract documents every part of the response */
export function assertDocumented(method: string, target: string, answer: GivenResponse): void {
  const faults = oracle().faultsOf(method.toUpperCase(), target, answer);
  if (faults.length === 0) return;
  throw new Error(
    `${method} ${target} got ${answer.status}, which the contract does not describe:\n` +
      `${faults.map((fault) => `  ${fault}`).join('\n')}\n${answer.text.slice(0, 2000)}`,
  );
}
