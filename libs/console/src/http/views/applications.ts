import { asked, box, boxes, form, input, select, table, textarea } from './field';

const ADDRESS = '/applications/<%= it.application.clientId %>';

const SCOPE_BOXES = boxes(
  'scopes',
  'Scopes <span class="hint">What the program may do. Give as few as it needs. A scope to write reads nothing.</span>',
  'it.scopes',
  '<code><%= value %></code> <span class="soft"><%= text %></span>',
);

const OVERLAPS = `[['24h', 'for 24 hours'], ['7d', 'for 7 days'], ['none', 'not at all: the program stops until it has the new one']]`;

const KEYS = textarea(
  'jwk',
  'Public key',
  'A JWK or a set of them (RSA, EC or Ed25519). The private key stays with the program.',
  'rows="4" required',
);

/** The newest secret of the page. Its forms change no newer one. */
const NEWEST = `<input type="hidden" name="madeAt" value="<%= it.application.secretMadeAt?.toISOString() %>">`;

const ROTATION = `${NEWEST}${select('overlap', 'Old secret', 'How long it is still accepted beside the new one.', OVERLAPS)}`;

const TRUST = `${input('issuer', 'Issuer', 'Such as https://token.actions.githubusercontent.com. Its keys are fetched within a minute; until then the trust opens nothing.', 'required')}
${input('subject', 'Subject', 'Exactly, or a prefix that ends in :* or /*, such as repo:acme/deploy:*.', 'required')}`;

const limit = (name: string, label: string): string => {
  const inForce = `<%= it.limits.${name}.inForce %>`;
  const whose = `<%= it.limits.${name}.isOwn ? 'own limit' : 'general limit' %>`;
  return input(name, label, `In force: ${inForce}, ${whose}`, `placeholder="${inForce}"`);
};

/** A form of the application's page. */
const change = (action: string, label: string, fields = ''): string =>
  form(`${ADDRESS}/${action}`, fields, label, 'plain');

const NEW_APPLICATION = `<input type="hidden" name="once" value="<%= it.once %>">
${input('name', 'Name', 'For people, such as “SIEM”.', 'required maxlength="200"')}
${SCOPE_BOXES}
${box('noSecret', 'true', 'Without a secret <span class="hint">The program proves itself by a key, which you add afterwards.</span>')}`;

const ask = (action: string, label: string, effect: string): string =>
  asked(`${ADDRESS}/${action}`, label, effect, '', NEWEST);

/** Removes one of several, which has this id. */
const removal = (what: string, field: string, name: string): string =>
  asked(
    `${ADDRESS}/remove-${what}`,
    `Remove ${what}`,
    `The token of the program ends at once, and this ${what} gets no other one.`,
    name,
    `<input type="hidden" name="${field}" value="<%= one.id %>">`,
  );

/** A value with a button that copies it. */
const copied = (id: string, value: string): string =>
  `<code id="${id}"><%= ${value} %></code> <button class="plain" data-copy="${id}" aria-live="polite" hidden>Copy<span class="hidden"> ${id.replace('-', ' ')}</span></button>`;

export const APPLICATIONS = {
  applications: `<p>An application is a program that uses the API of this workspace.</p>
${table('it.applications', 'There is none yet.', {
  Name: `<a href="/applications/<%= one.clientId %>"><%= one.name %></a><br><code><%= one.clientId %></code>`,
  State: `<%= one.disabled ? 'disabled' : 'enabled' %>`,
  Scopes: `<%= one.scopes.join(', ') %>`,
  'Last token': `<%= it.time(one.issuedAt) %>`,
})}
<h2>Create an application</h2>
${form('/applications', NEW_APPLICATION, 'Create application')}`,
  application: `<dl>
<dt>Client id</dt><dd>${copied('client-id', 'it.application.clientId')}</dd>
<dt>State</dt><dd><%= it.application.disabled ? 'disabled: every request is refused' : 'enabled' %></dd>
<dt>Created</dt><dd><%= it.time(it.application.createdAt) %></dd>
<dt>Last token</dt><dd><%= it.time(it.application.issuedAt) %></dd>
</dl>
<p><a href="/audit?clientId=<%= it.application.clientId %>">What it changed in the last seven days</a></p>
<% if (it.application.disabled) { %>${change('enable', 'Enable application')}<% } else { %>${ask('disable', 'Disable application', 'Every request of the program is refused until you enable it again.')}<% } %>
<h2>Secrets and keys</h2>
${table('it.application.credentials', 'There is none yet.', {
  Credential: `<%= one.type === 'SECRET' ? (one.id === 'previous' ? 'Old secret' : 'Secret') : one.type === 'KEY' ? 'Key ' + one.id : 'Trust ' + (it.trusts.find(({ id }) => id === one.id)?.subject ?? one.id) %>`,
  Made: `<%= one.createdAt ? it.time(one.createdAt) : 'unknown' %>`,
  'Last use': `<%= it.time(one.lastUsedAt) %>`,
  Ends: `<%= one.expiresAt ? it.time(one.expiresAt) : '' %>`,
  Change: `<% if (one.type === 'KEY') { %>${removal('key', 'kid', 'one.id')}<% } %>`,
})}
<div class="actions"><% if (it.application.credentials.some(({ id }) => id === 'previous')) { %>${ask('end-secret', 'End the old secret', 'Programs that still use it get no token any more.')}<% } %><% if (it.application.credentials.some(({ type }) => type === 'SECRET')) { %>${ask('remove-secret', 'Remove the secret', 'The token of the program ends at once. Then only keys and trusts prove it.')}<% } %></div>
${change('rotate-secret', 'Rotate secret', ROTATION)}
${change('keys', 'Add key', KEYS)}
<h2>Trusted issuers</h2>
<p>A token of a CI system or cluster proves the program, without any secret. Its audience must be the one of the trust.</p>
${table('it.trusts', '', {
  Issuer: `<%= one.issuer %>`,
  Subject: `<%= one.subject %>`,
  Audience: `<code><%= one.audience %></code>`,
  State: `<%= one.state %> <%= one.failure %>`,
  Change: removal('trust', 'trust', "'in ' + one.subject"),
})}
${change('trust', 'Add trust', TRUST)}
<h2>Scopes</h2>
${change('scopes', 'Set scopes', `<input type="hidden" name="changed" value="<%= it.application.scopes %>">${SCOPE_BOXES}`)}
<h2>Limits</h2>
<p>Requests per minute / burst. You can lower them. Only an operator raises them, because they protect everybody.</p>
${change('limits', 'Lower limits', limit('token', 'Token requests') + limit('read', 'Reads') + limit('write', 'Writes'))}`,
  secret: `<p class="notice">The secret is shown here once and never again. Copy it now into the store of your program.</p>
<dl>
<dt>Application</dt><dd><%= it.application.name %></dd>
<dt>Client id</dt><dd>${copied('client-id', 'it.application.clientId')}</dd>
<dt>Client secret</dt><dd>${copied('client-secret', 'it.clientSecret')}</dd>
<dt>Token endpoint</dt><dd><code><%= it.tokenUrl %></code></dd>
</dl>
<p><a href="/applications/<%= it.application.clientId %>">To the application</a></p>`,
};
