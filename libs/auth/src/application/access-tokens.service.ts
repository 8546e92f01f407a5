import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { AccessTokenSigner } from '../domain/access-token-signer.port';
import type { Application, ApplicationSecrets } from '../domain/application';
import { ApplicationRepository } from '../domain/application-repository.port';
import { ClientNotAuthenticated, TokenInvalid, TokenSuperseded } from '../domain/authentication-errors';
import { ClientSecrets } from '../domain/client-secrets.port';
import { covers, isScope } from '../domain/scope';
import { ScopeNotGranted } from '../domain/token-request-errors';

export interface AccessToken {
  readonly token: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly string[];
}

/** Who presents a token, with the scopes that are in force now. */
export interface AuthenticatedApplication {
  readonly application: Application;
  readonly scopes: readonly string[];
}

/** How long a token lives; bound by the module from the settings. */
export class AccessTokenLifetime {
  constructor(readonly seconds: number) {}
}

/** Tokens by the client credentials grant: one active per application, the newest (specification, Authentication 4). */
@Injectable()
export class AccessTokensService {
  constructor(
    private readonly applications: ApplicationRepository,
    private readonly secrets: ClientSecrets,
    private readonly signer: AccessTokenSigner,
    private readonly clock: Clock,
    private readonly lifetime: AccessTokenLifetime,
  ) {}

  /**
   * Issues a token and so ends the one before. `scopes` null asks for everything granted.
   * Throws `invalid_client` or `invalid_scope`, and then the token before stays active.
   */
  async issue(clientId: string, secret: string, scopes: readonly string[] | null): Promise<AccessToken> {
    const application = await this.authenticateClient(clientId, secret);
    const granted = scopes ?? application.scopes;
    const refused = granted.find((scope) => !isScope(scope) || !covers(application.scopes, scope));
    if (refused !== undefined) throw new ScopeNotGranted(refused);

    const tokenId = this.secrets.newTokenId();
    const issuedAt = Math.floor(this.clock.now() / 1000);
    const token = await this.applications.beginGeneration(application, tokenId, (generation) =>
      this.signer.sign({
        clientId: application.clientId,
        applicationId: application.id,
        workspaceId: application.workspaceId,
        scopes: granted,
        generation,
        tokenId,
        issuedAt,
        expiresAt: issuedAt + this.lifetime.seconds,
      }),
    );
    if (token === null) throw new ClientNotAuthenticated();
    return { token, expiresInSeconds: this.lifetime.seconds, scopes: granted };
  }

  /** Who a bearer token speaks for. Throws `token_invalid`, `token_expired` or `token_superseded`. */
  async authenticate(token: string): Promise<AuthenticatedApplication> {
    const claims = await this.signer.verify(token);
    const application = await this.applications.findByClientId(claims.clientId);
    if (!application || application.disabled || application.workspaceId !== claims.workspaceId)
      throw new TokenInvalid();
    if (claims.generation !== application.generation) throw new TokenSuperseded();
    return { application, scopes: claims.scopes.filter((scope) => covers(application.scopes, scope)) };
  }

  private async authenticateClient(clientId: string, secret: string): Promise<Application> {
    // An id that none could have is looked up like any other, so that it costs the same; Postgres takes no U+0000.
    const found = await this.applications.findWithSecrets(/^[\x20-\x7e]{1,200}$/.test(clientId) ? clientId : '-');
    const matches = this.secrets.matches(secret, found ? this.acceptedDigests(found.secrets) : []);
    if (!found || !matches || found.application.disabled) throw new ClientNotAuthenticated();
    return found.application;
  }

  private acceptedDigests(secrets: ApplicationSecrets): Buffer[] {
    const { digest, previous } = secrets;
    return previous && previous.expiresAt.getTime() > this.clock.now() ? [digest, previous.digest] : [digest];
  }
}
