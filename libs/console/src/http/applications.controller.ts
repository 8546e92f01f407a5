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

  /** What the forms of an application do. */
  private readonly changes: Readonly<Record<string, Change>> = {
    'rotate-secret': async ({ me, client_id: id, body }, response) => {
      const { overlap, madeAt = null } = await readFields(RotationDto, body);
      const rotated = await this.applications.asPerson(me).rotateSecret(id, OVERLAPS[overlap], madeAt);
      return rotated && this.showSecret(response, 'Secret rotated', rotated);
    },
    'end-secret': async ({ me, client_id: id, body }) =>
      this.applications.asPerson(me).endOldSecret(id, await madeAtOf(body)),
    'remove-secret': async ({ me, client_id: id, body }) =>
      this.applications.asPerson(me).removeSecret(id, await madeAtOf(body)),
    disable: ({ me, client_id: id }) => this.applications.asPerson(me).setDisabled(id, true),
    enable: ({ me, client_id: id }) => this.applications.asPerson(me).setDisabled(id, false),
    keys: async ({ me, client_id: id, body }) => {
      const { jwk } = await readFields(NewKeysDto, body);
      return this.keys.asPerson(me).add(id, await readClientKeys(jwk));
    },
    'remove-key': ({ me, client_id: id, body }) => this.keys.asPerson(me).remove(id, String(body['kid'])),
    // The trust opens nothing until a background worker fetched the keys of the issuer.
    trust: async ({ me, client_id: id, body }) => {
      const { issuer, subject } = await readFields(NewTrustDto, body);
      refuseFields({ issuer: issuerFault(issuer, this.settings.baseUrl, false), subject: subjectFault(subject) });
      const trust = { issuer, subject, audience: null, insecure: false, given: false, keys: null };
      return this.trusts.asPerson(me).add(id, trust);
    },
    'remove-trust': ({ me, client_id: id, body }) => this.trusts.asPerson(me).remove(id, idOf(String(body['trust']))),
    scopes: async ({ me, client_id: id, body }) => {
      const { scopes } = await readFields(ScopesDto, body);
      return this.applications.asPerson(me).setScopes(id, scopes, String(body['changed']));
    },
    limits: async ({ me, client_id: id, body }) =>
      this.applications.asPerson(me).setLimits(id, readLimits(body), this.settings.rateLimits),
  };

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
      await this.change(clientId, response, async () => {
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
    const notice = this.cookies.takeNotice(response);
    const content = { title: application.name, notice, application, trusts, ...choices };
    sendPage(response, 'application', { ...content, ...refused, typed });
  }

  /** Changes an application as a form says. Where fields are at fault, the page shows why. */
  @Post(':client_id/:form')
  async submit(@Sent() sent: SentTo<'client_id' | 'form'>, @Res() response: Response): Promise<void> {
    const [, make] = Object.entries(this.changes).find(([form]) => form === sent.form) ?? [];
    if (!make) throw new NotFoundException();
    // A form without a ticked box names no scopes.
    const body = sent.form === 'scopes' ? { scopes: [], ...sent.body } : sent.body;
    const change = () => this.change(sent.client_id, response, () => make(sent, response));
    await orShowAgain(body, change, (refused) => this.show(sent, response, refused));
  }

  /** Leads to an application after a change. A form that is sent again makes no other secret, and the page says so. */
  private async change(id: string, response: Response, make: () => Promise<unknown>): Promise<void> {
    assertClientId(id);
    try {
      if (!(await make())) throw new NotFoundException();
    } catch (error) {
      if (!(error instanceof MadeBefore)) throw error;
      this.cookies.leaveNotice(response, MADE_BEFORE);
    }
    // A new secret has a page of its own.
    if (!response.headersSent) response.redirect(303, `/applications/${id}`);
  }

  /** The only page that ever shows the secret. */
  private showSecret(response: Response, title: string, made: WithSecret): true {
    sendPage(response, 'secret', { title, ...made, tokenUrl: `${this.settings.baseUrl}/oauth/token` });
    return true;
  }
}

type ToApplication = SentTo<'client_id'>;
type Change = (sent: ToApplication, response: Response) => Promise<unknown>;

const madeAtOf = async (body: Typed): Promise<Date | null> => (await readFields(SecretDto, body)).madeAt ?? null;

/** Postgres takes no NUL. */
function assertClientId(text: string): void {
  if (!/^[\w-]{1,64}$/.test(text)) throw new NotFoundException();
}

/** The same for each send of a form. Nobody can choose it. */
const clientIdOf = ({ secret }: SignedIn, { once }: Typed): string =>
  `ci_${Buffer.from(tokenOf(secret, `application ${String(once).toLowerCase()}`), 'base64url').toString('hex', 0, 16)}`;

/** Reads limits as people write them, such as 20/40. @throws `validation_failed` */
function readLimits(typed: Typed): Partial<RateLimits> {
  const given = RATE_CLASSES.filter((rateClass) => typed[rateClass]);
  const limits = given.map((rateClass) => [rateClass, parseRateLimit(String(typed[rateClass]).trim())] as const);
  const reason = 'Write the requests per minute, a slash and the burst, such as 20/40.';
  refuseFields(Object.fromEntries(limits.map(([rateClass, limit]) => [rateClass, limit === null && reason])));
  return Object.fromEntries(limits);
}
