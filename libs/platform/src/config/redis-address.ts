export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

export interface RedisCredentials {
  /** Null for the default user. */
  readonly user: string | null;
  /** Null when Redis needs no password. */
  readonly password: string | null;
}

interface Access {
  readonly tls: boolean;
  readonly credentials: RedisCredentials;
}

/** The address of Redis and the way to reach it, parsed from REDIS_URL. */
export type RedisAddress =
  | (Access & { readonly kind: 'node'; readonly node: RedisHost; readonly database: number })
  | (Access & {
      readonly kind: 'sentinel';
      readonly sentinels: readonly RedisHost[];
      /** The sentinels' name for the primary. */
      readonly primary: string;
      readonly database: number;
      /** Credentials for the sentinels, which may differ from those for Redis. */
      readonly sentinelCredentials: RedisCredentials;
    })
  | (Access & { readonly kind: 'cluster'; readonly nodes: readonly RedisHost[] });

/** The message is a predicate ("must …") and quotes nothing of the URL. */
export class RedisUrlInvalid extends Error {}

const FORM = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^@?#]*))?(?:\?([^#]*))?$/;
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:,[\]\s]+))(?::(\d{1,5}))?$/i;
const DATABASE = /^\d{1,5}$/;
const PRIMARY = /^[\w.-]+$/;

/** @throws {@link RedisUrlInvalid} */
export function parseRedisUrl(url: string): RedisAddress {
  const parts = FORM.exec(url);
  if (!parts) {
    throw new RedisUrlInvalid(
      'must begin with redis://, redis+sentinel:// or redis+cluster://, or the same with rediss for TLS; ' +
        'user and password are percent-encoded',
    );
  }
  const [, secure, kind = 'node', userInfo = '', authority = '', path = '', query] = parts;
  const access = { tls: secure === 's', credentials: credentialsOf(...splitOnce(userInfo, ':')) };
  if (kind !== 'sentinel' && query !== undefined) throw new RedisUrlInvalid('must have no parameters');
  if (kind === 'sentinel') {
    const [primary, database] = splitOnce(path, '/');
    if (!PRIMARY.test(primary)) {
      throw new RedisUrlInvalid('must name after the sentinels what they call the primary: …:26379/name');
    }
    return {
      ...{ ...access, kind, sentinels: hostsOf(authority, 26_379), primary, database: databaseOf(database) },
      sentinelCredentials: sentinelCredentialsOf(query ?? ''),
    };
  }
  const nodes = hostsOf(authority, 6379);
  if (kind === 'cluster') {
    if (path !== '') throw new RedisUrlInvalid('must name no database: a cluster has only one');
    return { ...access, kind, nodes };
  }
  const [node, ...others] = nodes;
  if (!node || others.length > 0) {
    throw new RedisUrlInvalid('must name one host; several stand after redis+sentinel:// or redis+cluster://');
  }
  return { ...access, kind: 'node', node, database: databaseOf(path) };
}

function hostsOf(authority: string, usualPort: number): RedisHost[] {
  return authority.split(',').map((text) => {
    const [, bracketed, plain, digits = String(usualPort)] = HOST.exec(text) ?? [];
    const host = bracketed ?? plain;
    const port = Number(digits);
    if (host === undefined || port < 1 || port > 65_535) {
      throw new RedisUrlInvalid('must name hosts as host:port, more than one with commas between');
    }
    return { host, port };
  });
}

function databaseOf(text: string): number {
  if (text === '') return 0;
  if (!DATABASE.test(text)) throw new RedisUrlInvalid('must end in the number of a database or in none');
  return Number(text);
}

function credentialsOf(user: string, password: string): RedisCredentials {
  if (user !== '' && password === '') throw new RedisUrlInvalid('must have a password where it has a user');
  return { user: decoded(user), password: decoded(password) };
}

function sentinelCredentialsOf(query: string): RedisCredentials {
  const given = new Map(query.split('&').map((pair) => splitOnce(pair, '=')));
  given.delete('');
  const [user = '', password = ''] = [given.get('sentinelUser'), given.get('sentinelPassword')];
  if ([...given.keys()].some((name) => name !== 'sentinelUser' && name !== 'sentinelPassword')) {
    throw new RedisUrlInvalid('must have no parameters but sentinelUser and sentinelPassword');
  }
  return credentialsOf(user, password);
}

function decoded(text: string): string | null {
  try {
    return text === '' ? null : decodeURIComponent(text);
  } catch {
    throw new RedisUrlInvalid('must have % in user or password only as %25 or before what it encodes');
  }
}

function splitOnce(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
