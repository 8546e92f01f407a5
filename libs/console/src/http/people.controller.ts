import { Controller, Get, NotFoundException, Post, Res } from '@nestjs/common';
import { isEmail, isSubject } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import type { Response } from 'express';
import { LastAdministrator, NoSuchPerson } from '../domain/person';
import type { SignedIn } from '../domain/signed-in';
import { People } from '../typeorm/people';
import { Access, Sent, type SentTo } from './access.decorator';
import { idOf } from './path-id';
import { sendPage } from './page';
import { NewPersonDto, RoleDto } from './person.dto';
import { type Refused, orShowAgain, readFields, refuseFields } from './read-fields';

/** Everybody stands on one page. */
const MOST_PEOPLE = 1_000;

/** Manages the people who may use the workspace's console. A change acts on the person's next request. */
@Controller('people')
@Access('admin')
export class PeopleController {
  constructor(
    private readonly people: People,
    private readonly settings: Settings,
  ) {}

  /** `refused` comes from the methods below alone. */
  @Get()
  async list(@Sent() { me }: Pick<SentTo, 'me'>, @Res() response: Response, refused?: Refused): Promise<void> {
    const people = await this.people.list(me.workspaceId, 'present');
    const hasIssuer = this.settings.console.oidc !== null;
    sendPage(response, 'people', { title: 'People', people, hasIssuer, ...refused });
  }

  @Post()
  async add(@Sent() { me, body }: SentTo, @Res() response: Response): Promise<void> {
    const add = async (): Promise<void> => {
      const { email, name, role, subject } = await readFields(NewPersonDto, body);
      const { length } = await this.people.list(me.workspaceId, 'present');
      refuseFields({
        people: length >= MOST_PEOPLE && 'The workspace has 1,000 people. Remove somebody first, or ask an operator.',
        email: !isEmail(email) && 'This is no e-mail address.',
        subject:
          subject !== undefined && !isSubject(subject) && 'A subject has printable characters of ASCII and no blanks.',
      });
      const issuer = this.settings.console.oidc?.issuer;
      const account = subject !== undefined && issuer !== undefined ? { issuer, subject } : {};
      await this.people.asPerson(me).add(me.workspaceId, { email, name, role, ...account });
      response.redirect(303, '/people');
    };
    await orShowAgain(body, add, (refused) => this.list({ me }, response, refused));
  }

  @Post(':id/role')
  async setRole(@Sent() { me, id, body }: SentTo<'id'>, @Res() response: Response): Promise<void> {
    const { role } = await readFields(RoleDto, body);
    await this.change(me, response, (people) => people.setRole(me.workspaceId, idOf(id), role));
  }

  @Post(':id/remove')
  async remove(@Sent() { me, id }: SentTo<'id'>, @Res() response: Response): Promise<void> {
    await this.change(me, response, (people) => people.remove(me.workspaceId, idOf(id)));
  }

  private async change(me: SignedIn, response: Response, work: (people: People) => Promise<unknown>): Promise<void> {
    try {
      await work(this.people.asPerson(me));
    } catch (error) {
      if (error instanceof NoSuchPerson) throw new NotFoundException();
      if (!(error instanceof LastAdministrator)) throw error;
      return this.list({ me }, response, { status: 409, errors: { people: error.message }, typed: {} });
    }
    response.redirect(303, '/people');
  }
}
