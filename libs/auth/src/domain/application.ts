import {
  type ApplicationId,
  DomainError,
  RATE_CLASSES,
  type RateClass,
  type RateLimits,
  ValidationFailed,
  type WorkspaceId,
} from '#libs/kernel';

/** The current rights of an application. Every request is checked against them. */
export interface Grant {
  readonly id: ApplicationId;
  readonly workspaceId: WorkspaceId;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Own limits, which replace the general ones. */
  readonly limits: Partial<RateLimits>;
  readonly disabled: boolean;
  /** Increases with every token. Only tokens of the newest generation are accepted. */
  readonly generation: bigint;
}

/** A way in which the application proves itself. */
export interface Credential {
  readonly type: 'SECRET' | 'KEY' | 'TRUST';
  /** `current` or `previous` of a secret, the `kid` of a key, the id of a trust. The previous secret is accepted until it expires. */
  readonly id: string;
  /** Null where the secret is older than this record. */
  readonly createdAt: Date | null;
  /** When a token was last issued for it. Null when that is unknown or never happened. */
  readonly lastUsedAt: Date | null;
  /** Null but for the previous secret. */
  readonly expiresAt: Date | null;
}

/** An application of a workspace, with its client id, secret and granted scopes. */
export interface Application extends Grant {
  readonly name: string;
  readonly issuedAt: Date | null;
  readonly createdAt: Date;
  /** When the newest secret was made or removed. Null where there was none, or before this was recorded. */
  readonly secretMadeAt: Date | null;
  readonly previousSecretExpiresAt: Date | null;
  /** Those that are accepted now. */
  readonly credentials: readonly Credential[];
}

/** Rights of an application, with its name and its workspace's. */
export interface ApplicationInWorkspace extends Grant {
  readonly name: string;
  readonly workspaceSlug: string;
}

/** Somebody who uses the console of a workspace, for one request. */
export interface PersonOfConsole {
  readonly workspaceId: WorkspaceId;
  readonly personId: string;
  readonly requestId: string;
}

/** An enabled application cannot be deleted. */
export class ApplicationEnabled extends Error {
  constructor(clientId: string) {
    super(`The application "${clientId}" is enabled. Disable it first.`);
    this.name = 'ApplicationEnabled';
  }
}

/** An application with this client id, or a newer secret, is there. */
export class MadeBefore extends Error {}

/** Somebody set other scopes than those that a person changes. */
export class ScopesChanged extends DomainError {
  constructor(present: readonly string[]) {
    const detail = `The scopes are ${present.join(', ')} by now. Look, then send again.`;
    super('precondition_failed', detail, [{ parameter: 'scopes', code: 'format', detail }]);
  }
}

/** Limits protect everybody, so only an operator raises them. */
export class LimitRaised extends ValidationFailed {
  constructor(raised: readonly RateClass[]) {
    const detail = 'This is higher than the limit in force. Only an operator raises limits.';
    super(raised.map((parameter) => ({ parameter, code: 'range', detail })));
  }
}

/** @throws {@link LimitRaised} for a limit that is higher than the one in force */
export function assertNoneRaised(limits: Partial<RateLimits>, inForce: RateLimits): void {
  const raised = RATE_CLASSES.filter((rateClass) => {
    const { perMinute, burst } = limits[rateClass] ?? inForce[rateClass];
    return perMinute > inForce[rateClass].perMinute || burst > inForce[rateClass].burst;
  });
  if (raised.length > 0) throw new LimitRaised(raised);
}
