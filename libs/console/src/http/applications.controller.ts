import { randomUUID } from 'node:crypto';
import { BadRequestException, Body, Controller, Get, NotFoundException, Post, Res } from '@nestjs/common';
import {
  type Application,
  Applications,
  ClientKeys,
  Trusts,
  issuerFault,
  readClientKeys,
  subjectFault,
} from '#libs/auth/operators';
import { RATE_CLASSES, formatRateLimit, isUuid } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import type { Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { Sessions } from '../typeorm/sessions';
import { Access, Me, Sent, type SentTo } from './access.decorator';
import {
  LimitsDto,
  NewApplicationDto,
  NewKeysDto,
  NewTrustDto,
  OVERLAPS,
  RotationDto,
  ScopesDto,
} from './application.dto';
import { idOf } from './path-id';
import { SCOPE_TEXTS, readLimits } from './application-form';
import { sendPage } from './page';
import { type Refused, type Typed, orShowAgain, readFields, refuseFields } from './read-fields';

/** Anything else leads nowhere, and Postgres takes no NUL. */
const CLIENT_ID = /^[\w-]{1,64}$/;

/** Programs that use the API, for administrators. Each change acts on the program's next request. */
@Controller('applications')
@Access('admin')
export class ApplicationsController {
  constructor(
    private readonly applications: Applications,
    private readonly keys: ClientKeys,
    private readonly trusts: Trusts,
    private readonly sessions: Sessions,
    private readonly settings: Settings,
  ) {}

  @Get()
  async list(@Me() me: SignedIn, @Res() response: Response): Promise<void> {
    await this.showList(me, response);
  }

  @Post()
  async create(@Me() me: SignedIn, @Body() body: Typed, @Res() response: Response): Promise<void> {
    await orShowAgain(
      body,
      async () => this.make(me, body, await readFields(NewApplicationDto, body), response),
      (refused) => this.showList(me, response, refused),
    );
  }

  @Get(':client_id')
  async show(@Sent() { me, client_id: id }: ToApplication, @Res() response: Response): Promise<void> {
    await this.showOne(await this.own(me, id), response);
  }

  @Post(':client_id/rotate-secret')
  async rotate(@Sent() { me, client_id: id, body }: ToApplication, @Res() response: Response): Promise<void> {
    const application = await this.own(me, id);
    const rotate = async (): Promise<void> => {
      const { overlap } = await readFields(RotationDto, body);
      if ((await this.claim(me, body, id)) !== null) return this.lead(response, id);
      const rotated = await this.applications.asPerson(me).rotateSecret(id, OVERLAPS[overlap]);
      if (!rotated) throw new NotFoundException();
      this.showSecret(response, 'Secret rotated', rotated);
    };
    await orShowAgain(body, rotate, (refused) => this.showOne(application, response, refused));
  }

  @Post(':client_id/end-secret')
  async endSecret(@Sent() { me, client_id: id }: ToApplication, @Res() response: Response): Promise<void> {
    await this.change(me, id, response, () => this.applications.asPerson(me).endOldSecret(id));
  }

  @Post(':client_id/remove-secret')
  async removeSecret(@Sent() { me, client_id: id }: ToApplication, @Res() response: Response): Promise<void> {
    await this.change(me, id, response, () => this.applications.asPerson(me).removeSecret(id));
  }

  @Post(':client_id/keys')
  async addKeys(@Sent() { me, client_id: id, body }: ToApplication, @Res() response: Response): Promise<void> {
    await this.submit(me, id, { dto: NewKeysDto, body, response }, async ({ jwk }) => {
      await this.keys.asPerson(me).add(id, await readClientKeys(jwk));
    });
  }

  @Post(':client_id/keys/remove')
  async removeKey(@Sent() { me, client_id: id, body }: ToApplication, @Res() response: Response): Promise<void> {
    await this.change(me, id, response, () => this.keys.asPerson(me).remove(id, String(body['kid'])));
  }

  /** The trust opens nothing until a background worker fetched the keys of the issuer. */
  @Post(':client_id/trust')
  async addTrust(@Sent() { me, client_id: id, body }: ToApplication, @Res() response: Response): Promise<void> {
    await this.submit(me, id, { dto: NewTrustDto, body, response }, async ({ issuer, subject }) => {
      refuseFields({ issuer: issuerFault(issuer, this.settings.baseUrl, false), subject: subjectFault(subject) });
      const trust = { issuer, subject, audience: null, insecure: false, given: false, keys: null };
      await this.trusts.asPerson(me).add(id, trust);
    });
  }

  @Post(':client_id/trust/remove')
  async removeTrust(@Sent() { me, client_id: id, body }: ToApplication, @Res() response: Response): Promise<void> {
    await this.change(me, id, response, () => this.trusts.asPerson(me).remove(id, idOf(String(body['trust']))));
  }

  @Post(':client_id/disable')
  async disable(@Sent() { me, client_id: id }: ToApplication, @Res() response: Response): Promise<void> {
    await this.change(me, id, response, () => this.applications.asPerson(me).setDisabled(id, true));
  }

  @Post(':client_id/enable')
  async enable(@Sent() { me, client_id: id }: ToApplication, @Res() response: Response): Promise<void> {
    await this.change(me, id, response, () => this.applications.asPerson(me).setDisabled(id, false));
  }

  @Post(':client_id/scopes')
  async setScopes(@Sent() { me, client_id: id, body }: ToApplication, @Res() response: Response): Promise<void> {
    // A form without a ticked box names no scopes.
    const sent = { scopes: [], ...body };
    await this.submit(me, id, { dto: ScopesDto, body: sent, response }, ({ scopes }) =>
      this.applications.asPerson(me).setScopes(id, scopes),
    );
  }

  @Post(':client_id/limits')
  async lowerLimits(@Sent() { me, client_id: id, body }: ToApplication, @Res() response: Response): Promise<void> {
    await this.submit(me, id, { dto: LimitsDto, body, response }, async (fields) =>
      this.applications.asPerson(me).setLimits(id, readLimits(fields), this.settings.rateLimits),
    );
  }

  private async make(me: SignedIn, body: Typed, fields: NewApplicationDto, response: Response): Promise<void> {
    const applications = this.applications.asPerson(me);
    const clientId = applications.newClientId();
    const claimed = await this.claim(me, body, clientId);
    if (claimed !== null) {
      // The list, where the first send makes it still or could not.
      const isThere = (await applications.find(claimed)) !== null;
      return response.redirect(303, `/applications${isThere ? `/${claimed}` : ''}`);
    }
    const wanted = [me.workspaceId, fields.name, fields.scopes, { clientId }] as const;
    const created = fields.noSecret
      ? { application: await applications.createWithoutSecret(...wanted), clientSecret: null }
      : await applications.create(...wanted);
    const { application, clientSecret } = created;
    if (clientSecret === null) this.lead(response, clientId);
    else this.showSecret(response, 'Application created', { application, clientSecret });
  }

  /** Changes an application of the workspace, and leads back to its page. What is not there is 404. */
  private async change(me: SignedIn, id: string, response: Response, make: () => Promise<unknown>): Promise<void> {
    await this.own(me, id);
    if (!(await make())) throw new NotFoundException();
    this.lead(response, id);
  }

  /** Changes an application as a form says. Where fields are at fault, the page shows why. */
  private async submit<Fields extends object>(
    me: SignedIn,
    id: string,
    form: { readonly dto: new () => Fields; readonly body: Typed; readonly response: Response },
    make: (fields: Fields) => Promise<unknown>,
  ): Promise<void> {
    const { dto, body, response } = form;
    const application = await this.own(me, id);
    const change = async (): Promise<void> => {
      await make(await readFields(dto, body));
      this.lead(response, id);
    };
    await orShowAgain(body, change, (refused) => this.showOne(application, response, refused));
  }

  /** Another workspace's application is as absent as none. */
  private async own(me: SignedIn, clientId: string): Promise<Application> {
    const application = CLIENT_ID.test(clientId) ? await this.applications.asPerson(me).find(clientId) : null;
    if (!application) throw new NotFoundException();
    return application;
  }

  /** Returns null for the first to send the form, and later what the first one claimed it for. */
  private async claim(me: SignedIn, { once }: Typed, clientId: string): Promise<string | null> {
    if (typeof once === 'string' && isUuid(once)) return this.sessions.claim(me, once, clientId);
    throw new BadRequestException('This form is not complete. Open the page again and send its form.');
  }

  private lead(response: Response, clientId: string): void {
    response.redirect(303, `/applications/${clientId}`);
  }

  private async showList({ workspaceId }: SignedIn, response: Response, refused?: Refused): Promise<void> {
    const applications = await this.applications.list(workspaceId);
    const content = { title: 'Applications', applications, scopes: SCOPE_TEXTS, once: randomUUID(), ...refused };
    sendPage(response, 'applications', content, refused ? 400 : 200);
  }

  private async showOne(application: Application, response: Response, refused?: Refused): Promise<void> {
    const { workspaceId, clientId } = application;
    const trusts = await this.trusts.asPerson({ workspaceId, personId: '' }).list(clientId);
    // It is gone meanwhile.
    if (!trusts) throw new NotFoundException();
    const limits = RATE_CLASSES.map((rateClass) => ({
      rateClass,
      isOwn: application.limits[rateClass] !== undefined,
      inForce: formatRateLimit(application.limits[rateClass] ?? this.settings.rateLimits[rateClass]),
    }));
    const typed = { scopes: application.scopes, ...refused?.typed };
    const choices = { limits, scopes: SCOPE_TEXTS, once: randomUUID() };
    const content = { title: application.name, application, trusts, ...choices, ...refused, typed };
    sendPage(response, 'application', content, refused ? 400 : 200);
  }

  /** The only page that ever shows the secret. */
  private showSecret(
    response: Response,
    title: string,
    { application, clientSecret }: { application: Application; clientSecret: string },
  ): void {
    sendPage(response, 'secret', {
      title,
      application,
      clientSecret,
      tokenUrl: `${this.settings.baseUrl}/oauth/token`,
    });
  }
}

type ToApplication = SentTo<'client_id'>;
