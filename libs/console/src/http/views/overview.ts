import { table } from './field';
import { RUNS } from './lists';

const share = (what: string): string =>
  `<% if (one.percent === null) { %>–<% } else { %><meter max="100" value="<%= one.percent %>" aria-label="<%= one.percent %> % ${what}"></meter> <%= one.percent %> %<% } %>`;

/** Employees have no owner. */
const owned = (cell: string): string => `<% if (one.key !== 'EMPLOYEE') { %>${cell}<% } %>`;

/** The charts are HTML of ours, whose titles are escaped. */
const trend = (trends: string, about: string): string => `<% if (${trends}.charts.length > 0) { %>
<div class="charts"><% for (const chart of ${trends}.charts) { %><%~ chart %><% } %></div>
<details><summary>${about} by day, as a table</summary>
<div class="table" tabindex="0" role="region" aria-label="${about} by day"><table>
<caption>${about} on the last ninety days, in percent</caption>
<thead><tr><th scope="col">Day</th><% for (const label of ${trends}.labels) { %><th scope="col"><%= label %></th><% } %></tr></thead>
<tbody><% for (const { day, shares } of ${trends}.rows) { %><tr><th scope="row"><%= day %></th><% for (const { percent } of shares) { %><td><%= percent ?? '–' %></td><% } %></tr><% } %></tbody>
</table></div></details>
<% } else { %><p class="soft">Pictures of the last ninety days come with the first day that is over.</p><% } %>`;

export const OVERVIEW = {
  overview: `<h2>Assets and their owners</h2>
${table('it.categories', '', {
  Category: `<a href="/inventory?categoryKey=<%= one.key %>"><%= one.label %></a>`,
  Assets: `<%= one.total.toLocaleString('en') %>`,
  'With an owner': owned(`<%= one.owned.toLocaleString('en') %>`),
  Without: owned(
    `<a href="/inventory?categoryKey=<%= one.key %>&amp;hasOwner=false"><%= (one.total - one.owned).toLocaleString('en') %></a>`,
  ),
  Coverage: owned(share('have an owner')),
})}
${trend('it.owners', 'Assets with an owner')}
<h2>Computers by check</h2>
${table('it.checks', '', {
  Check: `<%= one.label %>`,
  Passing: `<%= one.passing.toLocaleString('en') %>`,
  Failing: `<a href="/computers?failingAnyOf=<%= one.key %>"><%= one.failing.toLocaleString('en') %></a>`,
  Unknown: `<a href="/computers?unknownAnyOf=<%= one.key %>"><%= one.unknown.toLocaleString('en') %></a>`,
  Share: share('pass'),
})}
${trend('it.passes', 'Computers that pass')}
<h2>Sources</h2>
<% if (it.sources.totalCount > it.sources.items.length) { %><p class="soft">The first <%= it.sources.items.length %> of <%= it.sources.totalCount.toLocaleString('en') %> sources.</p><% } %>
${table('it.sources.items', 'There is no source yet.', {
  Source: `<%= one.source %>`,
  Assets: `<%= one.assetCount.toLocaleString('en') %>`,
  'Last completed import': `<%= it.time(one.lastCompletedAt) %>`,
  Fresh: `<% if (one.staleAfterSeconds === null) { %><span class="soft">no limit is set</span><% } else if (it.now - one.lastCompletedAt > one.staleAfterSeconds * 1_000) { %><span class="bad-text">stale</span><% } else { %><span class="good">yes</span><% } %>`,
})}
<h2>Last imports</h2>
${RUNS}`,
};
