import { attributes, box, field, form, input, select } from './field';
import { LINES } from './lists';

const COUNTS = `<dl class="counts">
<% const report = it.upload.report; for (const [label, n] of [['Read', report.read], ['Skipped', report.skipped], ['Created', report.created], ['Updated', report.updated], ['Unchanged', report.unchanged], ['Hidden', report.hidden], ['Failed', report.failed], ['Warned', report.warned], ['Found again', report.rekeyed]]) { %><dt><%= label %></dt><dd><%= n.toLocaleString('en') %></dd><% } %>
</dl>
<% if (report.newSource && isTried) { %><p class="notice">The source “<%= it.upload.options.source %>” is new in this workspace.</p><% } %>
<% if (report.hiddenWhy) { %><p class="notice bad">Nothing is hidden. <%= report.hiddenWhy %></p><% } %>`;

const FAULTS = `<% if (it.upload.failedKept > 0) { %><p><a href="/imports/uploads/<%= it.upload.id %>/failed-records">Download failed records</a>
<span class="soft"><% if (it.upload.failedKept < report.failed) { %>The first <%= it.upload.failedKept.toLocaleString('en') %>. <% } %>Mend or delete them, then import that file with the same source and map. Keep what it does not name.</span></p><% } %>
${LINES('First errors', 'report.errors.slice(0, 20)')}
${LINES('First warnings', 'report.warnings.slice(0, 20)')}`;

export const UPLOADS = {
  uploadForm: `<p>First a dry run shows what the file would change. Nothing is written before you import it.</p>
<form method="post" action="/imports?<%= new URLSearchParams(it.frame.fields).toString() %>" enctype="multipart/form-data" class="fields">
${input('source', 'Source', 'The system that the records come from. The file is compared with its assets.', 'required maxlength="100"')}
${select('map', 'Map', 'Reads what this tool exports. Without one, each record has at least externalId, categoryKey and name.', `[['', 'none'], ...it.maps.map((one) => [one, one])]`)}
${select('format', 'Format', 'The name and the first bytes of the file tell it.', `[['', 'as the file tells'], ...it.formats.map((one) => [one, one])]`)}
${select('missing', 'Assets of the source that the file does not name', 'Hide them only if the file names every asset.', `[['keep', 'keep'], ['hide', 'hide']]`)}
${input('hideAtMost', 'Hide at most', 'A number as 50, or a share as 10%. Without one, 20% or 19 assets.', 'maxlength="20"')}
<fieldset><legend>Also</legend>
${box('strict', 'true', 'Make each warning an error of its record')}
${box('rekeyBy', 'serialNumber', 'Find enrolled computers again by their serial number')}
${box('createTagKeys', 'platform', 'Create missing tag keys as keys of the platform')}
</fieldset>
${field('file', 'File', 'NDJSON, CSV, or what the map reads. Up to 100 MB; gzip is fine, up to 1 GB unpacked and 1,000,000 records.', `<input ${attributes('file')} type="file" required>`)}
<button>Try the file</button>
</form>`,
  upload: `<p class="soft">Source <%= it.upload.options.source %>, <%= it.upload.options.map ? 'map ' + it.upload.options.map : 'no map' %>, missing assets: <%= it.upload.options.missing %>.</p>
<% if (it.isUnderWay) { %>
<p><%= it.upload.state === 'trying' ? 'This is the dry run: nothing is written.' : 'The records are written.' %> <%= it.read.toLocaleString('en') %> records read, <%= it.percent %> % of the file.</p>
<progress max="100" value="<%= it.percent %>" aria-label="Read of the file, in percent"></progress>
<p class="soft">This page shows the progress every two seconds. You may leave it: <a href="/imports">Imports</a> leads back.</p>
<% } %>
<% if (it.upload.reason) { %><p class="notice bad"><%= it.upload.reason %></p><% } %>
<% if (it.upload.state === 'refused') { %><p>What was written before its end stays, and <a href="/imports">Imports</a> counts it.</p>
<p><a class="button" href="/imports/new">Upload a file</a></p><% } %>
<% const isTried = it.upload.state === 'tried'; if (isTried || it.upload.state === 'imported') { %>
<% if (isTried) { %><p>This is what the import would do. Nothing is written yet.</p><% } %>
${COUNTS}
<% if (isTried) { %>
${form('/imports/uploads/<%= it.upload.id %>/import', '', 'Import now')}
<p><a href="/imports/new">Upload again with other options</a></p>
<% } %>
${FAULTS}
<% } %>`,
  uploadGone: `<p class="notice">The file is not here any more: upload again. It is removed when it was imported, when another one follows, after an hour, and earlier when files of others need its place.</p>
<p><a class="button" href="/imports/new">Upload a file</a></p>`,
};
