import { RUNS } from './lists';

const bar = (label: string): string =>
  `<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="${label}"><rect class="all" width="100" height="8"/><rect class="part" width="<%= one.percent %>" height="8"/></svg>`;

/** The charts are HTML of ours, whose titles are escaped. */
const trend = (trends: string, about: string): string => `<% if (${trends}.charts.length > 0) { %>
<div class="charts"><% for (const chart of ${trends}.charts) { %><%~ chart %><% } %></div>
<details><summary>${about} by day, as a table</summary>
<div class="table" tabindex="0" role="region" aria-label="${about} by day"><table>
<caption>${about} on the last ninety days, in percent</caption>
<thead><tr><th scope="col">Day</th><% for (const label of ${trends}.labels) { %><th scope="col" class="number"><%= label %></th><% } %></tr></thead>
<tbody><% for (const { day, percents } of ${trends}.rows) { %><tr><th scope="row"><%= day %></th><% for (const percent of percents) { %><td class="number"><%= percent ?? '–' %></td><% } %></tr><% } %></tbody>
</table></div></details>
<% } else { %><p class="soft">Pictures of the last ninety days come with the first day that is over.</p><% } %>`;

export const OVERVIEW = {
  overview: `<% layout('@frame') %>
<h2>Assets and their owners</h2>
<div class="table"><table class="stacked">
<thead><tr><th scope="col">Category</th><th scope="col" class="number">Assets</th><th scope="col" class="number">With an owner</th><th scope="col" class="number">Without</th><th scope="col">Coverage</th></tr></thead>
<tbody>
<% for (const one of it.categories) { %>
<tr><td><a href="/inventory?categoryKey=<%= one.key %>"><%= one.label %></a></td>
<td class="number" data-label="Assets"><%= one.total.toLocaleString('en') %></td>
<% if (one.key === 'EMPLOYEE') { %><td></td><td></td><td></td></tr><% continue; } %>
<td class="number" data-label="With an owner"><%= one.owned.toLocaleString('en') %></td>
<td class="number" data-label="Without"><a href="/inventory?categoryKey=<%= one.key %>&amp;hasOwner=false"><%= (one.total - one.owned).toLocaleString('en') %></a></td>
<td data-label="Coverage">${bar('<%= one.percent %> % have an owner')} <%= one.percent %> %</td></tr>
<% } %>
</tbody></table></div>
${trend('it.trends.owners', 'Assets with an owner')}
<h2>Computers by check</h2>
<div class="table"><table class="stacked">
<thead><tr><th scope="col">Check</th><th scope="col" class="number">Passing</th><th scope="col" class="number">Failing</th><th scope="col" class="number">Unknown</th><th scope="col">Share</th></tr></thead>
<tbody>
<% for (const one of it.checks) { %>
<tr><td><%= one.label %></td>
<td class="number" data-label="Passing"><%= one.passing.toLocaleString('en') %></td>
<td class="number" data-label="Failing"><a href="/computers?failingAnyOf=<%= one.key %>"><%= one.failing.toLocaleString('en') %></a></td>
<td class="number" data-label="Unknown"><a href="/computers?unknownAnyOf=<%= one.key %>"><%= one.unknown.toLocaleString('en') %></a></td>
<td data-label="Share">${bar('<%= one.percent %> % pass')} <%= one.percent %> %</td></tr>
<% } %>
</tbody></table></div>
${trend('it.trends.checks', 'Computers that pass')}
<h2>Sources</h2>
<% if (it.sourceCount > it.sources.length) { %><p class="soft">The first <%= it.sources.length %> of <%= it.sourceCount.toLocaleString('en') %> sources.</p><% } %>
<% if (it.sources.length > 0) { %>
<div class="table"><table class="stacked">
<thead><tr><th scope="col">Source</th><th scope="col" class="number">Assets</th><th scope="col">Last completed import</th><th scope="col">Fresh</th></tr></thead>
<tbody>
<% for (const one of it.sources) { %>
<tr><td><%= one.source %></td><td class="number" data-label="Assets"><%= one.assetCount.toLocaleString('en') %></td>
<td data-label="Last completed import"><%= it.time(one.lastCompletedAt) %></td>
<td data-label="Fresh"><% if (one.staleAfterSeconds === null) { %><span class="soft">no limit is set</span><% } else if (one.isStale) { %><span class="bad-text">stale</span><% } else { %><span class="good">yes</span><% } %></td></tr>
<% } %>
</tbody></table></div>
<% } else { %><p class="notice">There is no source yet.</p><% } %>
<h2>Last imports</h2>
<% if (it.runs.length > 0) { %>${RUNS}<% } else { %><p class="notice">There was no import yet.</p><% } %>`,
};
