import type { Credentials } from './credentials-file';

export interface BannerFacts {
  /** The API's own base URL. */
  readonly baseUrl: string;
  /** The address for clients on this machine. */
  readonly origin: string;
  readonly client: Credentials;
  readonly explorer: Credentials;
  readonly credentialsFile: string;
  /** Address of the console with a one-time link, or the reason why it does not run. */
  readonly console: string;
}

const LINK_HINT = `
                 (a link works once, for five minutes; another one: npm run --silent admin -- console link)`;

/** The text shown once the API responds. */
export function banner({ baseUrl, origin, client, explorer, credentialsFile, console }: BannerFacts): string {
  return `
  Ready.

  API            ${baseUrl}
  Try it         ${baseUrl}/docs
  Guides         ${baseUrl}/docs/guides
  Console        ${console}${console.startsWith('http') ? LINK_HINT : ''}

  Client id      ${client.client_id}
  Client secret  ${client.client_secret}
                 (demo data, every scope; kept in ${credentialsFile})

  For the Authorize button of /docs, use a second application, because a new token ends the previous one:
  Client id      ${explorer.client_id}
  Client secret  ${explorer.client_secret}

  Paste these lines into another shell, one by one:

${curlLines(origin, client).join('\n\n')}

  Ctrl-C stops everything and keeps the data.
`;
}

/** Lines for any POSIX shell: store a token in a variable, then call the API with it. */
function curlLines(origin: string, client: Credentials): readonly string[] {
  const form = `-d grant_type=client_credentials -d client_id=${client.client_id} -d client_secret=${client.client_secret}`;
  const authorized = `-H "Authorization: Bearer $TOKEN"`;
  const assets = `${origin}/v1/inventory/assets`;
  const key = `-H "Idempotency-Key: $(date +%s)-$$" -H 'Content-Type: application/json'`;
  const first = `$(curl -s ${authorized} '${assets}?categoryKey=CUSTOM&pageSize=1' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')`;
  return [
    `TOKEN=$(curl -s ${form} ${origin}/oauth/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    `curl -s ${authorized} '${assets}?pageSize=3'`,
    `curl -s -X PATCH ${authorized} ${key} -d '{"description":"Reviewed"}' ${assets}/${first}`,
  ];
}
