import { HttpException } from '@nestjs/common';
import { cut } from '#libs/kernel';
import { UnsentBytes } from '#libs/platform/http/server';
import { Eta } from 'eta';
import type { Request, Response } from 'express';
import { formFields } from './form-token';
import { VIEWS } from './views/views';

/** The longest text of a form. An asset has up to a megabyte of tags. */
const MOST_OF_VALUE = 20_000;
/** Characters of all values of a page. Others wait while it is made. */
const MOST_OF_PAGE = 1_000_000;

const eta = new Eta();
const { escapeFunction: escaped } = eta.config;
/** Characters of the page that is made now. */
let length = 0;
eta.configure({
  // A value that is not there shows as nothing.
  escapeFunction: (value) => {
    const html = escaped(cut(String((value ?? '') as string), MOST_OF_VALUE));
    length += html.length;
    return html;
  },
});
for (const [name, text] of Object.entries(VIEWS)) eta.loadTemplate(`@${name}`, text);

/** Pages wait in memory until browsers have read them. */
const unsent = new UnsentBytes();

/** The title is the heading, too. The status is 200 by default. */
export type PageContent = Readonly<Record<string, unknown>> & { readonly title: string; readonly status?: number };

const MENU = ['Overview', 'Inventory', 'Computers', 'Imports', 'Applications', 'People', 'Audit'];
const FOR_ADMINS = ['Applications', 'People'];

/** As people read it, in the one zone that everybody shares. */
const time = (moment: Date | string | number | null | undefined): string =>
  moment ? `${new Date(moment).toISOString().slice(0, 16).replace('T', ' ')} UTC` : 'never';

/** The response to this request is not the one of its route. `send` sets the status. */
export class AnotherResponse extends HttpException {
  constructor(readonly send: (response: Response) => void) {
    super('Another response is to be sent.', 303);
  }
}

/** Renders a page. Templates escape every value, and the policy of the response lets no foreign script run. */
export function sendPage(response: Response, view: keyof typeof VIEWS, content: PageContent): void {
  const { signedIn, path } = response.req as Request;
  const frame = signedIn && {
    menu: MENU.filter((label) => signedIn.role === 'admin' || !FOR_ADMINS.includes(label)),
    current: path.split('/')[1] || 'overview',
    me: signedIn,
    fields: formFields(signedIn),
  };
  length = 0;
  const shown = { errors: {}, typed: {}, time, isFull: () => length > MOST_OF_PAGE, ...content, frame };
  const html = eta.render('@frame', { ...shown, body: eta.render(`@${view}`, shown) });
  unsent.holdWhole(response, Buffer.byteLength(html), signedIn?.personId);
  response.status(content.status ?? 200).type('html');
  response.send(html);
}
