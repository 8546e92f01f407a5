import { attributes, field, input, table, buttons } from './field';

const SCOPE_BOXES = `<fieldset<%~ include('@invalid', { ...it, name: 'scopes' }) %>>
<legend>Scopes <span class="hint">What the program may do. Give as few as it needs.</span></legend>
<% for (const [scope, text] of Object.entries(it.scopes)) { %>
<label class="box"><input type="checkbox" name="scopes" value="<%= scope %>"<% if ([it.typed.scopes ?? []].flat().includes(scope)) { %> checked<% } %>> <code><%= scope %></code> <span class="soft"><%= text %></span></label>
<% } %>
<%~ include('@error', { ...it, name: 'scopes' }) %>
</fieldset>`;

const OVERLAPS = `<select ${attributes('overlap')}><option value="24h">for 24 hours</option><option value="7d">for 7 days</option><option value="none">not at all: the program stops until it has the new one</option></select>`;

const button = (action: string, label: string, look = 'plain'): string =>
  `<form method="post" action="/applications/<%= it.application.clientId %>/${action}"><%~ include('@fields', it) %><button class="${look}">${label}</button></form>`;

/** A value with a button that copies it. */
const copied = (id: string, value: string): string =>
  `<code id="${id}"><%= ${value} %></code> <button class="plain" data-copy="${id}" hidden>Copy<span class="hidden"> ${id.replace('-', ' ')}</span></button>`;

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
<input type="hidden" name="once" value="<%= it.once %>">
${field('name', 'Name', 'For people, such as “SIEM”.', `<input ${attributes('name')} value="<%= it.typed.name %>" required maxlength="200">`)}
${SCOPE_BOXES}
<label class="box"><input type="checkbox" name="noSecret" value="true"<% if (it.typed.noSecret) { %> checked<% } %>> Without a secret <span class="hint">The program proves itself by a key, which you add afterwards.</span></label>
<p><button>Create application</button></p>
</form>`,
  application: `<% layout('@frame') %>
<% const hasOld = it.application.credentials.some(({ id }) => id === 'previous'); %>
<dl>
<dt>Client id</dt><dd>${copied('client-id', 'it.application.clientId')}</dd>
<dt>State</dt><dd><%= it.application.disabled ? 'disabled: every request is refused' : 'enabled' %></dd>
<dt>Created</dt><dd><%= it.time(it.application.createdAt) %></dd>
<dt>Last token</dt><dd><%= it.time(it.application.issuedAt) %></dd>
</dl>
<div class="actions">
<% if (it.application.disabled) { %>${button('enable', 'Enable application')}<% } else { %>${button('disable', 'Disable application', 'bad')}<% } %>
</div>
<h2>Secrets and keys</h2>
${table('it.application.credentials', 'There is none yet.', {
  Credential: `<%= one.type === 'SECRET' ? (one.id === 'previous' ? 'Old secret' : 'Secret') : one.type === 'KEY' ? 'Key ' + one.id : 'Trust ' + one.id %>`,
  Made: `<%= one.createdAt ? it.time(one.createdAt) : 'unknown' %>`,
  'Last use': `<%= it.time(one.lastUsedAt) %>`,
  Ends: `<%= one.expiresAt ? it.time(one.expiresAt) : '' %>`,
  Change: buttons(
    `<% if (one.type === 'KEY') { %><form method="post" action="/applications/<%= it.application.clientId %>/keys/remove"><%~ include('@fields', it) %><input type="hidden" name="kid" value="<%= one.id %>"><button class="bad">Remove key<span class="hidden"> <%= one.id %></span></button></form><% } %>`,
  ),
})}
<% const hasSecret = it.application.credentials.some(({ type }) => type === 'SECRET'); %>
<div class="actions"><% if (hasOld) { %>${button('end-secret', 'End the old secret')}<% } %><% if (hasSecret) { %>${button('remove-secret', 'Remove the secret', 'bad')}<% } %></div>
<form method="post" action="/applications/<%= it.application.clientId %>/rotate-secret" class="fields"><%~ include('@fields', it) %>
<input type="hidden" name="once" value="<%= it.once %>">
${field('overlap', 'Old secret', 'How long it is still accepted beside the new one.', OVERLAPS)}
<button class="plain">Rotate secret</button>
</form>
<form method="post" action="/applications/<%= it.application.clientId %>/keys" class="fields"><%~ include('@fields', it) %>
${field(
  'jwk',
  'Public key',
  'A JWK or a set of them (RSA, EC or Ed25519). The private key stays with the program.',
  `<textarea ${attributes('jwk')} rows="4" required><%= it.typed.jwk %></textarea>`,
)}
<button class="plain">Add key</button>
</form>
<h2>Trusted issuers</h2>
<p>A token of a CI system or cluster proves the program, without any secret.</p>
${table('it.trusts', '', {
  Issuer: `<%= one.issuer %>`,
  Subject: `<%= one.subject %>`,
  State: `<%= one.state %> <%= one.failure %>`,
  Change: buttons(
    `<form method="post" action="/applications/<%= it.application.clientId %>/trust/remove"><%~ include('@fields', it) %><input type="hidden" name="trust" value="<%= one.id %>"><button class="bad">Remove trust<span class="hidden"> in <%= one.subject %></span></button></form>`,
  ),
})}
<form method="post" action="/applications/<%= it.application.clientId %>/trust" class="fields"><%~ include('@fields', it) %>
${input('issuer', 'Issuer', 'Such as https://token.actions.githubusercontent.com. Its keys are fetched within a minute; until then the trust opens nothing.', 'required')}
${input('subject', 'Subject', 'Exactly, or a prefix that ends in :* or /*, such as repo:acme/deploy:*.', 'required')}
<button class="plain">Add trust</button>
</form>
<h2>Scopes</h2>
<form method="post" action="/applications/<%= it.application.clientId %>/scopes" class="fields"><%~ include('@fields', it) %>
${SCOPE_BOXES}
<button class="plain">Set scopes</button>
</form>
<h2>Limits</h2>
<p>Requests per minute / burst. You can lower them. Only an operator raises them, because they protect everybody.</p>
<form method="post" action="/applications/<%= it.application.clientId %>/limits" class="fields"><%~ include('@fields', it) %>
<% for (const { rateClass, inForce, isOwn } of it.limits) { %>
<div class="field"><label for="<%= rateClass %>"><%= { read: 'Reads', write: 'Writes', token: 'Token requests' }[rateClass] %>
<span class="hint">In force: <%= inForce %><%= isOwn ? ', own limit' : ', general limit' %></span></label>
<input id="<%= rateClass %>" name="<%= rateClass %>" value="<%= it.typed[rateClass] ?? '' %>" placeholder="<%= inForce %>"<%~ include('@invalid', { ...it, name: rateClass }) %>>
<%~ include('@error', { ...it, name: rateClass }) %></div>
<% } %>
<button class="plain">Lower limits</button>
</form>`,
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
