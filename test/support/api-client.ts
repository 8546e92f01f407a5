import { randomUUID } from 'node:crypto';
import { assertDocumented } from '../contract/contract-oracle';

export interface ApiResponse<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  readonly text: string;
}

export interface PageBody {
  readonly results: readonly Record<string, unknown>[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null; readonly totalCount: number };
}

/** A client of the API. Fails the test when the contract does not document a response. */
export class ApiClient {
  constructor(
    private readonly origin: string,
    private readonly token?: string,
    private readonly judge: typeof assertDocumented = assertDocumented,
  ) {}

  /** A client of the management port, which is not part of the contract. */
  static ofManagement(origin: string): ApiClient {
    return new ApiClient(origin, undefined, () => undefined);
  }

  async send<Body = Record<string, unknown>>(
    method: string,
    path: string,
    init: RequestInit = {},
  ): Promise<ApiResponse<Body>> {
    const headers = new Headers(init.headers);
    if (this.token !== undefined && !headers.has('Authorization')) headers.set('Authorization', `Bearer ${this.token}`);
    const response = await fetch(`${this.origin}${path}`, { ...init, method, headers });
    const text = await response.text();
    this.judge(method, path, { status: response.status, headers: response.headers, text });
    return { status: response.status, headers: response.headers, text, body: parsed(text) as Body };
  }

  async get<Body = Record<string, unknown>>(path: string, init: RequestInit = {}): Promise<ApiResponse<Body>> {
    return this.send<Body>('GET', path, init);
  }

  /** Sends a write with a new idempotency key unless the headers name one. Null omits a header. */
  async patch<Body = Record<string, unknown>>(
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string | null>> = {},
  ): Promise<ApiResponse<Body>> {
    const all = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID(), ...headers };
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
    return this.send<Body>('PATCH', path, {
      headers: Object.fromEntries(sent),
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** Returns a page of a list. @throws unless the status is 200 */
  async page(path: string, query: Readonly<Record<string, string>> = {}): Promise<PageBody> {
    const response = await this.get<PageBody>(`${path}?${new URLSearchParams(query).toString()}`);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.text}`);
    return response.body;
  }

  /** Yields every item of a list, page after page. Calls `between` after each page. */
  async walk(
    path: string,
    query: Readonly<Record<string, string>> & { readonly pageSize: string },
    between: (pageNumber: number) => Promise<string | void> = () => Promise.resolve(),
  ): Promise<Record<string, unknown>[]> {
    const items: Record<string, unknown>[] = [];
    let pageSize = query.pageSize;
    let cursor: string | null = null;
    for (let pageNumber = 1; ; pageNumber += 1) {
      const next: Record<string, string> = { ...query, pageSize, ...(cursor === null ? {} : { pageCursor: cursor }) };
      const page: PageBody = await this.page(path, next);
      items.push(...page.results);
      if (!page.pageInfo.hasNextPage) return items;
      cursor = page.pageInfo.endCursor;
      pageSize = (await between(pageNumber)) ?? pageSize;
    }
  }

  /** Requests a token with credentials in the form. */
  async requestToken(
    form: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    return this.send('POST', '/oauth/token', { body: new URLSearchParams(form), headers });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
