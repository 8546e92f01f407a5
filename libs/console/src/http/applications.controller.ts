import { randomUUID } from 'node:crypto';
import { Controller, Get, NotFoundException, Post, Res } from '@nestjs/common';
import {
  Applications,
  ClientKeys,
  MadeBefore,
  Trusts,
  type WithSecret,
  issuerFault,
  readClientKeys,
  subjectFault,
} from '#libs/auth/operators';
import { RATE_CLASSES, type RateLimits, SCOPE_MEANINGS, formatRateLimit, parseRateLimit } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import type { Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { Access, Sent, type SentTo } from './access.decorator';
import {
  LimitsDto,
  NewApplicationDto,
  NewKeysDto,
  NewTrustDto,
  OVERLAPS,
  RotationDto,
  ScopesDto,
  SecretDto,
} from './application.dto';
import { Cookies } from './cookies';
import { tokenOf } from './form-token';
import { leaveNotice, takeNotice } from './notices';
import { idOf } from './path-id';
import { sendPage } from './page';
import { type Refused, type Typed, orShowAgain, readFields, refuseFields } from './read-fields';

/** All stand on one page. */
const MOST_APPLICATIONS = 1_000;
const TOO_MANY = 'The workspace has 1,000 applications. Only an operator adds or deletes one.';
const MADE_BEFORE =
  'Nothing was changed: this form was sent before, or somebody rotated the secret. If nobody has the new one, rotate it.';

/** Programs that use the API, for administrators. Each change acts on the program's next request. */
@Controller('applications')
@Access('admin')
export class ApplicationsController {
  constructor(
    private readonly applications: Applications,
    private readonly keys: ClientKeys,
    private readonly trusts: Trusts,
    private readonly cookies: Cookies,
    private readonly settings: Settings,
  ) {}

  /** `refused` comes from {@link create} alone. */
  @Get()
  async list(@Sent() { me }: Pick<SentTo, 'me'>, @Res() response: Response, refused?: Refused): Promise<void> {
    const applications = await this.applications.list(me.workspaceId);
    const content = { title: 'Applications', applications, scopes: SCOPE_MEANINGS, once: randomUUID() };
    sendPage(response, 'applications', { ...content, ...refused });
  }

  @Post()
  async create(@Sent() { me, body }: SentTo, @Res() response: Response): Promise<void> {
    const create = async (): Promise<void> => {
      const { name, scopes, noSecret } = await readFields(NewApplicationDto, body);
      const applications = this.applications.asPerson(me);
      const { length } = await applications.list(me.workspaceId);
      refuseFields({ name: length >= MOST_APPLICATIONS && TOO_MANY });
      const clientId = clientIdOf(me, body);
      const wanted = [me.workspaceId, name, scopes, { clientId }] as const;
      await this.change(me, clientId, response, async () => {
        if (noSecret) return applications.createWithoutSecret(...wanted);
        return this.showSecret(response, 'Application created', await applications.create(...wanted));
      });
    };
    await orShowAgain(body, create, (refused) => this.list({ me }, response, refused));
  }

  /** `refused` comes from {@link submit} alone. */
  @Get(':client_id')
  async show(@Sent() sent: ToApplication, @Res() response: Response, refused?: Refused): Promise<void> {
    const { me, client_id: id } = sent;
    assertClientId(id);
    const application = await this.applications.asPerson(me).find(id);
    const trusts = await this.trusts.asPerson(me).list(id);
    // Another workspace's is as absent as none.
    if (!application || !trusts) throw new NotFoundException();
    const limits = RATE_CLASSES.map((rateClass) => {
      const own = application.limits[rateClass];
      const inForce = formatRateLimit(own ?? this.settings.rateLimits[rateClass]);
      return [rateClass, { inForce, isOwn: own !== undefined }] as const;
    });
    const typed = { scopes: application.scopes, ...refused?.typed };
    const choices = { limits: Object.fromEntries(limits), scopes: SCOPE_MEANINGS };
    const notice = takeNotice(this.cookies, me, response);
    const content = { title: application.name, notice, application, trusts, ...choices };
    sendPage(response, 'application', { ...content, ...refused, typed });
  }

  @Post(':client_id/rotate-secret')
  async rotate(@Sent() sent: ToApplication, @Res() response: Response): Promise<void> {
    const { me, client_id: id } = sent;
    await this.submit(sent, response, RotationDto, async ({ overlap, madeAt = null }) => {
      const rotated = await this.applications.asPerson(me).rotateSecret(id, OVERLAPS[overlap], madeAt);
      return rotated && this.showSecret(response, 'Secret rotated', rotated);
    });
  }

  @Post([':client_id/end-secret', ':client_id/remove-secret'])
  async endSecret(@Sent() sent: ToApplication, @Res() response: Response): Promise<void> {
    const end = response.req.path.endsWith('/end-secret') ? 'endOldSecret' : 'removeSecret';
    await this.submit(sent, response, SecretDto, async ({ madeAt = null }) =>
      this.applications.asPerson(sent.me)[end](sent.client_id, madeAt),
    );
  }

  @Post(':client_id/keys')
  async addKeys(@Sent() sent: ToApplication, @Res() response: Response): Promise<void> {
    await this.submit(sent, response, NewKeysDto, async ({ jwk }) =>
      this.keys.asPerson(sent.me).add(sent.client_id, await readClientKeys(jwk)),
    );
  }

  @Post(':client_id/keys/remove')
  async removeKey(@Sent() { me, client_id: id, body }: ToApplication, @Res() response: Response): Promise<void> {
    await this.change(me, id, response, () => this.keys.asPerson(me).remove(id, String(body['kid'])));
  }

  /** The trust opens nothing until a background worker fetched the keys of the issuer. */
  @Post(':client_id/trust')
  async addTrust(@Sent() sent: ToApplication, @Res() response: Response): Promise<void> {
    await this.submit(sent, response, NewTrustDto, async ({ issuer, subject }) => {
      refuseFields({ issuer: issuerFault(issuer, this.settings.baseUrl, false), subject: subjectFault(subject) });
      const trust = { issuer, subject, audience: null, insecure: false, given: false, keys: null };
      return this.trusts.asPerson(sent.me).add(sent.client_id, trust);
    });
  }

  @Post(':client_id/trust/remove')
  async removeTrust(@Sent() { me, client_id: id, body }: ToApplication, @Res() response: Response): Promise<void> {
    await this.change(me, id, response, () => this.trusts.asPerson(me).remove(id, idOf(String(body['trust']))));
  }

  @Post([':client_id/disable', ':client_id/enable'])
  async setDisabled(@Sent() { me, client_id: id }: ToApplication, @Res() response: Response): Promise<void> {
    const isDisabled = response.req.path.endsWith('/disable');
    await this.change(me, id, response, () => this.applications.asPerson(me).setDisabled(id, isDisabled));
  }

  @Post(':client_id/scopes')
  async setScopes(@Sent() sent: ToApplication, @Res() response: Response): Promise<void> {
    // A form without a ticked box names no scopes.
    const body = { scopes: [], ...sent.body };
    await this.submit({ ...sent, body }, response, ScopesDto, ({ scopes }) =>
      this.applications.asPerson(sent.me).setScopes(sent.client_id, scopes, String(sent.body['changed'])),
    );
  }

  @Post(':client_id/limits')
  async lowerLimits(@Sent() sent: ToApplication, @Res() response: Response): Promise<void> {
    await this.submit(sent, response, LimitsDto, async (fields) =>
      this.applications.asPerson(sent.me).setLimits(sent.client_id, readLimits(fields), this.settings.rateLimits),
    );
  }

  /** Leads to an application after a change. A form that is sent again makes no other secret, and the page says so. */
  private async change(me: SignedIn, id: string, response: Response, make: () => Promise<unknown>): Promise<void> {
    assertClientId(id);
    try {
      if (!(await make())) throw new NotFoundException();
    } catch (error) {
      if (!(error instanceof MadeBefore)) throw error;
      leaveNotice(this.cookies, me, response, MADE_BEFORE);
    }
    // A new secret has a page of its own.
    if (!response.headersSent) response.redirect(303, `/applications/${id}`);
  }

  /** Changes an application as a form says. Where fields are at fault, the page shows why. */
  private async submit<Fields extends object>(
    sent: ToApplication,
    response: Response,
    dto: new () => Fields,
    make: (fields: Fields) => Promise<unknown>,
  ): Promise<void> {
    const { me, client_id: id, body } = sent;
    const change = () => this.change(me, id, response, async () => make(await readFields(dto, body)));
    await orShowAgain(body, change, (refused) => this.show(sent, response, refused));
  }

  /** The only page that ever shows the secret. */
  private showSecret(response: Response, title: string, made: WithSecret): true {
    sendPage(response, 'secret', { title, ...made, tokenUrl: `${this.settings.baseUrl}/oauth/token` });
    return true;
  }
}

type ToApplication = SentTo<'client_id'>;

/** Postgres takes no NUL. */
function assertClientId(text: string): void {
  if (!/^[\w-]{1,64}$/.test(text)) throw new NotFoundException();
}

/** The same for each send of a form. Nobody can choose it. */
const clientIdOf = ({ secret }: SignedIn, { once }: Typed): string =>
  `ci_${Buffer.from(tokenOf(secret, `application ${String(once).toLowerCase()}`), 'base64url').toString('hex', 0, 16)}`;

/** Reads limits as people write them, such as 20/40. @throws `validation_failed` */
function readLimits(typed: LimitsDto): Partial<RateLimits> {
  const given = RATE_CLASSES.filter((rateClass) => typed[rateClass] !== undefined);
  const limits = given.map((rateClass) => [rateClass, parseRateLimit(typed[rateClass] ?? '')] as const);
  const reason = 'Write the requests per minute, a slash and the burst, such as 20/40.';
  refuseFields(Object.fromEntries(limits.map(([rateClass, limit]) => [rateClass, limit === null && reason])));
  return Object.fromEntries(limits);
}
