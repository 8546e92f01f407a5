import { boxes, buttons, input, select, table, textarea } from './field';

const SCOPE_BOXES = boxes(
  'scopes',
  'Scopes <span class="hint">What the program may do. Give as few as it needs. A scope to write reads nothing.</span>',
  'it.scopes',
  '<code><%= value %></code> <span class="soft"><%= text %></span>',
);

const ONCE = `<input type="hidden" name="once" value="<%= it.once %>">`;

const OVERLAPS = `[['24h', 'for 24 hours'], ['7d', 'for 7 days'], ['none', 'not at all: the program stops until it has the new one']]`;

const KEYS = textarea(
  'jwk',
  'Public key',
  'A JWK or a set of them (RSA, EC or Ed25519). The private key stays with the program.',
  'rows="4" required',
);

const ROTATION = `${ONCE}
${select('overlap', 'Old secret', 'How long it is still accepted beside the new one.', OVERLAPS)}`;

const TRUST = `${input('issuer', 'Issuer', 'Such as https://token.actions.githubusercontent.com. Its keys are fetched within a minute; until then the trust opens nothing.', 'required')}
${input('subject', 'Subject', 'Exactly, or a prefix that ends in :* or /*, such as repo:acme/deploy:*.', 'required')}`;

const limit = (name: string, label: string): string => {
  const inForce = `<%= it.limits.${name}.inForce %>`;
  const whose = `<%= it.limits.${name}.isOwn ? 'own limit' : 'general limit' %>`;
  return input(name, label, `In force: ${inForce}, ${whose}`, `placeholder="${inForce}"`);
};

/** A form of the application's page. */
const form = (action: string, fields: string, label: string): string =>
  `<form method="post" action="/applications/<%= it.application.clientId %>/${action}" class="fields"><%~ include('@fields', it) %>
${fields}
<button class="plain">${label}</button>
</form>`;

const button = (action: string, label: string, look = 'plain'): string =>
  `<form method="post" action="/applications/<%= it.application.clientId %>/${action}"><%~ include('@fields', it) %><button class="${look}">${label}</button></form>`;

/** A value with a button that copies it. */
const copied = (id: string, value: string): string =>
  `<code id="${id}"><%= ${value} %></code> <button class="plain" data-copy="${id}" aria-live="polite" hidden>Copy<span class="hidden"> ${id.replace('-', ' ')}</span></button>`;

export const APPLICATIONS = {
  applications: `<% layout('@frame') %>
<p>An application is a program that uses the API of this workspace.</p>
${table('it.applications', 'There is none yet.', {
  Name: `<a href="/applications/<%= one.clientId %>"><%= one.name %></a><br><code><%= one.clientId %></code>`,
  State: `<%= one.disabled ? 'disabled' : 'enabled' %>`,
  Scopes: `<%= one.scopes.join(', ') %>`,
  'Last token': `<%= it.time(one.issuedAt) %>`,
})}
<h2>Create an application</h2>
<form method="post" action="/applications" class="fields"><%~ include('@fields', it) %>
${ONCE}
${input('name', 'Name', 'For people, such as “SIEM”.', 'required maxlength="200"')}
${SCOPE_BOXES}
<label class="box"><input type="checkbox" name="noSecret" value="true"<% if (it.typed.noSecret) { %> checked<% } %>> Without a secret <span class="hint">The program proves itself by a key, which you add afterwards.</span></label>
<p><button>Create application</button></p>
</form>`,
  application: `<% layout('@frame') %>
<dl>
<dt>Client id</dt><dd>${copied('client-id', 'it.application.clientId')}</dd>
<dt>State</dt><dd><%= it.application.disabled ? 'disabled: every request is refused' : 'enabled' %></dd>
<dt>Created</dt><dd><%= it.time(it.application.createdAt) %></dd>
<dt>Last token</dt><dd><%= it.time(it.application.issuedAt) %></dd>
</dl>
<p><a href="/audit?clientId=<%= it.application.clientId %>">What it changed in the last seven days</a></p>
<div class="actions"><% if (it.application.disabled) { %>${button('enable', 'Enable application')}<% } else { %>${button('disable', 'Disable application', 'bad')}<% } %></div>
<h2>Secrets and keys</h2>
${table('it.application.credentials', 'There is none yet.', {
  Credential: `<%= one.type === 'SECRET' ? (one.id === 'previous' ? 'Old secret' : 'Secret') : one.type === 'KEY' ? 'Key ' + one.id : 'Trust ' + (it.trusts.find(({ id }) => id === one.id)?.subject ?? one.id) %>`,
  Made: `<%= one.createdAt ? it.time(one.createdAt) : 'unknown' %>`,
  'Last use': `<%= it.time(one.lastUsedAt) %>`,
  Ends: `<%= one.expiresAt ? it.time(one.expiresAt) : '' %>`,
  Change: buttons(
    `<% if (one.type === 'KEY') { %><form method="post" action="/applications/<%= it.application.clientId %>/keys/remove"><%~ include('@fields', it) %><input type="hidden" name="kid" value="<%= one.id %>"><button class="bad">Remove key<span class="hidden"> <%= one.id %></span></button></form><% } %>`,
  ),
})}
<div class="actions"><% if (it.application.credentials.some(({ id }) => id === 'previous')) { %>${button('end-secret', 'End the old secret')}<% } %><% if (it.application.credentials.some(({ type }) => type === 'SECRET')) { %>${button('remove-secret', 'Remove the secret', 'bad')}<% } %></div>
${form('rotate-secret', ROTATION, 'Rotate secret')}
${form('keys', KEYS, 'Add key')}
<h2>Trusted issuers</h2>
<p>A token of a CI system or cluster proves the program, without any secret. Its audience must be the one of the trust.</p>
${table('it.trusts', '', {
  Issuer: `<%= one.issuer %>`,
  Subject: `<%= one.subject %>`,
  Audience: `<code><%= one.audience %></code>`,
  State: `<%= one.state %> <%= one.failure %>`,
  Change: buttons(
    `<form method="post" action="/applications/<%= it.application.clientId %>/trust/remove"><%~ include('@fields', it) %><input type="hidden" name="trust" value="<%= one.id %>"><button class="bad">Remove trust<span class="hidden"> in <%= one.subject %></span></button></form>`,
  ),
})}
${form('trust', TRUST, 'Add trust')}
<h2>Scopes</h2>
${form('scopes', SCOPE_BOXES, 'Set scopes')}
<h2>Limits</h2>
<p>Requests per minute / burst. You can lower them. Only an operator raises them, because they protect everybody.</p>
${form('limits', limit('token', 'Token requests') + limit('read', 'Reads') + limit('write', 'Writes'), 'Lower limits')}`,
  secret: `<% layout('@frame') %>
<p class="notice">The secret is shown here once and never again. Copy it now into the store of your program.</p>
<dl>
<dt>Application</dt><dd><%= it.application.name %></dd>
<dt>Client id</dt><dd>${copied('client-id', 'it.application.clientId')}</dd>
<dt>Client secret</dt><dd>${copied('client-secret', 'it.clientSecret')}</dd>
<dt>Token endpoint</dt><dd><code><%= it.tokenUrl %></code></dd>
</dl>
<p><a href="/applications/<%= it.application.clientId %>">To the application</a></p>`,
};
