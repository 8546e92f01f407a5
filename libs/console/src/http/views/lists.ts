import { CHECKS } from '#libs/computers';
import { boxes, form, input, select, table, textarea } from './field';

const NEXT = `<% if (it.next) { %><p><a class="button plain" href="<%= it.next %>">Next page</a></p><% } %>`;

const day = (name: string, label: string): string =>
  input(name, label, '', 'type="date"', `(it.typed.${name} ?? '').slice(0, 10)`);

/** The form of a list. What is wrong with a parameter that has no field stands below it, above the list. */
const filters = (fields: string): string => {
  const names = [...fields.matchAll(/ name="(\w+)"/g)].map(([, name]) => name);
  return `<form method="get" action="<%= it.list %>" class="filters">
${fields}
<p><button>Filter</button></p>
</form>
<% for (const [name, reason] of Object.entries(it.errors)) { if (!${JSON.stringify(names)}.includes(name)) { %><p class="notice bad"><%= reason %></p><% } } %>`;
};

const count = (what: string): string =>
  `<%= it.totalCount.toLocaleString('en') %> ${what}<% if (it.totalCount !== 1) { %>s<% } %>.`;

const OWNER = `<% if (one.type === 'EMPLOYEE') { %><% } else if (one.owner) { %><%= one.owner.name %><% } else if (one.ownerId) { %><span class="bad-text">owner gone</span><% } else { %><span class="bad-text">none</span><% } %>`;

const VERSION = `<input type="hidden" name="version" value="<%= it.version %>">`;

const assetForm = (name: string, control: string, label: string): string =>
  form(`/inventory/<%= one.id %>/${name}`, VERSION + control, label, 'plain');

const OWNER_HINT = 'A part of the name or e-mail address of an employee. Empty takes the owner away.';

const CLASSIFICATIONS = 'it.classifications.map((value) => [value, value])';

/** What the form that led to the choice of an owner was for. */
const CHOICE = `${VERSION}<% for (const id of it.ids) { %><input type="hidden" name="ids" value="<%= id %>"><% } %>`;

const EMPLOYEES = `<fieldset><legend>Employee</legend>
<% for (const one of it.matches) { %><label class="box"><input type="radio" name="ownerId" value="<%= one.id %>" required> <%= one.name %><% if (one.email) { %> <span class="soft"><%= one.email %></span><% } %></label><% } %>
</fieldset>`;

const GIVE_OWNER = `Give owner<% if (it.ids.length > 1) { %> to <%= it.ids.length %> assets<% } %>`;

const SEARCH = input('owner', 'A part of the name or e-mail address', '', 'required maxlength="1000"', 'it.text');

const check = (place: number): string => {
  const state = `one.checks[${place}].state`;
  return `<span class="<%= { passing: 'good', failing: 'bad-text', unknown: 'soft' }[${state}] %>"><%= ${state} %></span>`;
};

const COUNTS = ['Read', 'Created', 'Updated', 'Hidden', 'Failed', 'Warned'];

export const RUNS = table('it.runs', 'There was no import yet.', {
  Started: `<a href="/imports/<%= one.id %>"><%= it.time(one.startedAt) %></a>`,
  Source: `<%= one.source %>`,
  Outcome: `<%= one.outcome %>`,
  ...Object.fromEntries(COUNTS.map((label) => [label, `<%= one.${label.toLowerCase()} %>`])),
});

export const LINES = (heading: string, lines: string): string => `<h2>${heading}</h2>
${table(lines, 'None.', { Line: `<%= one.file ? one.file + ':' : '' %><%= one.line %>`, Reason: `<%= one.reason %>` })}`;

export const LISTS = {
  inventory: `${filters(`${select('categoryKey', 'Category', '', `[['', 'all'], ...it.categories.map((one) => [one.key, one.displayLabel])]`)}
${select('subKey', 'Type', '', `[['', 'all'], ...it.types.map((one) => [one, one])]`)}
${select('hasOwner', 'Owner', '', `[['', 'any'], ['false', 'missing'], ['true', 'there']]`)}
${select('ownerVisible', 'Owner is an employee', '', `[['', 'any'], ['false', 'no: owner gone'], ['true', 'yes']]`)}
${select('classification', 'Classification', '', `[['', 'any'], ...${CLASSIFICATIONS}]`)}
${input('name', 'Name, exactly', '')}
${input('tagKey', 'Tag', '')}
${input('source', 'Source', '')}`)}
<% if (it.assets) { %>
<p>${count('asset')} <a href="<%= it.download %>">Download as CSV</a></p>
<% if (it.typed.hasOwner === 'false' && !it.typed.categoryKey && !it.typed.subKey) { %><p class="hint">Employees are among them, who never have an owner. Choose a category to leave them out.</p><% } %>
<% const canWrite = it.frame.me.role === 'admin'; const ticked = [it.ticked.typed.ids ?? []].flat(); %>
<% for (const [name, reason] of Object.entries(it.ticked.errors)) { if (name !== 'owner' || it.assets.length === 0) { %><p class="notice bad"><%= reason %></p><% } } %>
<% if (canWrite && it.assets.length > 0) { %><form method="post" action="/inventory/ticked/owner<%= it.query %>" id="ticked"><%~ include('@fields', it) %></form><% } %>
${table('it.assets', 'No asset matches.', {
  Name: `<% if (canWrite && one.type !== 'EMPLOYEE') { %><input type="checkbox" form="ticked" name="ids" value="<%= one.id %>"<% if (ticked.includes(one.id)) { %> checked<% } %> aria-label="Tick <%= one.name %>"> <% } %><a href="/inventory/<%= one.id %>"><%= one.name %></a>`,
  Type: `<%= one.type %>`,
  Owner: OWNER,
  Classification: `<%= one.classification %>`,
  Source: `<%= one.source %>`,
  Changed: `<%= it.time(one.updatedAt) %>`,
})}
<% if (canWrite && it.assets.length > 0) { %>
<h2>Change the ticked assets</h2>
<div class="filters">
<div class="field"><label for="owner">Owner: a part of the name or e-mail address</label>
<input id="owner" name="owner" form="ticked" value="<%= it.ticked.typed.owner %>"<%~ include('@invalid', { ...it.ticked, name: 'owner' }) %>>
<%~ include('@error', { ...it.ticked, name: 'owner' }) %></div>
<p><button form="ticked">Give owner</button></p>
<div class="field"><label for="new-classification">Classification</label>
<select id="new-classification" name="classification" form="ticked"><% for (const value of it.classifications) { %><option<% if (it.ticked.typed.classification === value) { %> selected<% } %>><%= value %></option><% } %></select></div>
<p><button form="ticked" formaction="/inventory/ticked/classification<%= it.query %>" class="plain">Set classification</button></p>
</div>
<% } %>
${NEXT}
<% } %>`,
  asset: `<% const one = it.asset; %>
<dl>
<dt>Id</dt><dd><code><%= one.id %></code></dd>
<dt>Type</dt><dd><%= one.type %> (<%= it.category?.displayLabel %>)</dd>
<dt>Owner</dt><dd>${OWNER}<% if (one.owner?.email) { %>, <%= one.owner.email %><% } %></dd>
<dt>Owner set by</dt><dd><%= one.ownerSource %></dd>
<dt>Classification</dt><dd><%= one.classification %></dd>
<dt>Description</dt><dd><%= one.description %></dd>
<dt>Tags</dt><dd><%= one.tags.map(({ key, value }) => (value ? key + '=' + value : key)).join(', ') %></dd>
<dt>Source</dt><dd><%= one.source %>, <code><%= one.externalId %></code></dd>
<% for (const [label, value] of [['Account', one.accountId], ['Region', one.region], ['Serial number', one.serialNumber], ['Operating system', one.operatingSystem && one.operatingSystem + ' ' + (one.osVersion ?? '')], ['E-mail', one.email]]) { if (value) { %>
<dt><%= label %></dt><dd><%= value %></dd>
<% } } %>
<dt>Last check</dt><dd><%= it.time(one.lastCheckedAt) %></dd>
<dt>Changed</dt><dd><%= it.time(one.updatedAt) %></dd>
</dl>
<% if (it.frame.me.role === 'admin' && one.type !== 'EMPLOYEE') { %>
<h2>Change it</h2>
<p class="soft">No import overwrites what you set here.</p>
${assetForm('owner', input('owner', 'Owner', OWNER_HINT), 'Give owner')}
${assetForm('description', textarea('description', 'Description', 'What it is for.', 'rows="3"'), 'Set description')}
${assetForm('classification', select('classification', 'Classification', '', CLASSIFICATIONS), 'Set classification')}
${assetForm('tags', textarea('tags', 'Tags', 'Keys of the workspace, one in each line.', 'rows="3"'), 'Set tags')}
<% } %>
<% if (one.type === 'COMPUTER') { %><p><a href="/computers/<%= one.id %>">Checks of this computer</a></p><% } %>
<h2>History</h2>
<p><a href="/audit?assetId=<%= one.id %>">Who changed it in the last seven days</a></p>
<% if (it.states > it.history.length) { %><p class="soft">The newest <%= it.history.length %> of <%= it.states.toLocaleString('en') %> states.</p><% } %>
${table('it.history', '', {
  When: `<%= it.time(one.validFrom) %>`,
  By: `<%= one.by %>`,
  What: `<% if (one.changes.length === 0) { %><%= one.what %><% } %>
<% for (const { field, old, fresh } of one.changes) { %><%= field %>: <% if (old) { %><del><%= old %></del> → <% } %><%= fresh || 'none' %><br><% } %>`,
})}`,
  chooseOwner: `<p><% if (it.more) { %>More than <%= it.matches.length %> employees match “<%= it.text %>”. These are some of them.<% } else { %>These employees match “<%= it.text %>”.<% } %><% if (it.partly) { %> Not every employee was searched: write the whole e-mail address to find any.<% } %></p>
${form('<%= it.address %>', CHOICE + EMPLOYEES, GIVE_OWNER)}
<h2>Search again</h2>
${form('<%= it.address %>', CHOICE + SEARCH, 'Search', 'plain')}`,
  computers: `${filters(`${boxes('failingAnyOf', 'Failing', 'it.checks', '<%= text %>')}
${boxes('unknownAnyOf', 'Unknown', 'it.checks', '<%= text %>')}
${select('isMonitored', 'Monitored', '', `[['', 'any'], ['true', 'yes'], ['false', 'no']]`)}
${day('lastCheckedBefore', 'Last check-in before (UTC)')}
${input('serialNumber', 'Serial number', '')}`)}
<% if (it.computers) { %>
<p>${count('computer')} <a href="<%= it.download %>">Download as CSV</a></p>
${table('it.computers', 'No computer matches.', {
  Name: `<a href="/computers/<%= one.id %>"><%= one.name %></a>`,
  Owner: OWNER,
  ...Object.fromEntries(CHECKS.map((key, place) => [`<%= it.checks.${key} %>`, check(place)])),
  'Last check-in': `<%= it.time(one.lastCheckedAt) %>`,
})}
${NEXT}
<% } %>`,
  computer: `<% const one = it.computer; %>
<dl>
<dt>Owner</dt><dd>${OWNER}<% if (one.owner?.email) { %>, <%= one.owner.email %><% } %></dd>
<dt>Serial number</dt><dd><%= one.serialNumber %></dd>
<dt>Operating system</dt><dd><%= one.operatingSystem %> <%= one.osVersion %></dd>
<dt>Monitored</dt><dd><%= one.isMonitored ? 'yes' : 'no' %></dd>
<dt>Agent</dt><dd><%= one.compliance.agentVersion ?? 'none' %></dd>
<dt>Last check-in</dt><dd><%= it.time(one.lastCheckedAt) %></dd>
<% for (const { label, state } of it.checks) { %><dt><%= label %></dt><dd><%= state %></dd><% } %>
</dl>
<p><a href="/inventory/<%= one.id %>">Asset, owner and history</a></p>`,
  imports: `<% if (it.frame.me.role === 'admin') { %>
<p><a class="button" href="/imports/new">Import a file</a></p>
<% if (it.upload) { %><p class="notice"><a href="/imports/uploads/<%= it.upload.id %>"><%= it.upload.name %></a> was uploaded at <%= it.time(it.upload.uploadedAt) %>.<% if (it.upload.state === 'tried') { %> It waits for its import.<% } %></p><% } %>
<% } %>
<% if (it.hasMore) { %><p class="soft">The newest <%= it.runs.length %> imports.</p><% } %>
${RUNS}`,
  import: `<% const run = it.run; %>
<dl>
<dt>Outcome</dt><dd><%= run.outcome %></dd>
<dt>Started</dt><dd><%= it.time(run.startedAt) %></dd>
<dt>Ended</dt><dd><%= run.endedAt ? it.time(run.endedAt) : 'not yet' %></dd>
<dt>By</dt><dd><%= run.who %></dd>
<dt>Files</dt><dd><%= run.files.map(({ name }) => name).join(', ') %></dd>
<% if (run.map) { %><dt>Map</dt><dd><%= run.map %></dd><% } %>
<% for (const [label, n] of [['Read', run.read], ['Created', run.created], ['Updated', run.updated], ['Unchanged', run.unchanged], ['Hidden', run.hidden], ['Failed', run.failed], ['Skipped', run.skipped], ['Warned', run.warned]]) { %><dt><%= label %></dt><dd><%= n %></dd><% } %>
<% if (run.hiddenWhy) { %><dt>Hiding</dt><dd><%= run.hiddenWhy %></dd><% } %>
</dl>
${LINES('Errors', 'it.errorLines')}
${LINES('Warnings', 'it.warnings')}`,
  audit: `<% if (it.events) { %>
<p><% if (it.checkpoint) { %><%= it.checkpoint.size.toLocaleString('en') %> events are sealed, the last at <%= it.time(it.checkpoint.recordedAt) %>.<% } else { %>No event is sealed yet.<% } %>
<% if (it.waiting) { %> Events since <%= it.time(it.waiting) %> wait for their seal.<% } else { %> None waits.<% } %></p>
<% } %>
${filters(`${day('since', 'From (UTC)')}
${day('until', 'To, with that day (UTC)')}
${input('action', 'Action', '', 'list="actions"')}
${input('clientId', 'Client id', '')}
${input('assetId', 'Asset id', '')}
<datalist id="actions"><% for (const action of it.actions) { %><option><%= action %></option><% } %></datalist>`)}
<% if (it.events) { %>
<% if (it.since) { %><p class="soft"><%= it.next ? 'The oldest events' : 'Events' %> since <%= it.time(it.since) %>, the newest of them first.</p><% } %>
<% if (it.next) { %><p class="notice">These are not the latest. <a href="<%= it.next %>">Later events</a></p><% } %>
<p><a href="<%= it.download %>">Download as NDJSON</a><% if (!it.typed.since) { %> <span class="soft">The file begins with the oldest event. Filter by a first day for less.</span><% } %></p>
${table('it.events', 'No event matches.', {
  When: `<%= it.time(one.occurredAt) %><br><span class="soft">No. <%= one.sequence %></span>`,
  Who: `<%= one.who %>`,
  Action: `<%= one.action %>`,
  Target: `<% if (one.target.type === 'ASSET') { %><a href="/inventory/<%= one.target.id %>"><%= one.target.name %></a><% } else { %><%= one.target.type %> <%= one.target.name %><% } %>`,
  Changes: `<% for (const change of one.changes) { %><%= change.field %>: <% if (change.old !== 'none' && change.old !== change.new) { %><del><%= change.old %></del> → <% } %><%= change.new %><br><% } %>`,
})}
<% } %>`,
};
