/** The style of the console, after base.css, which the guides use too. */
export const CONSOLE_STYLE = `code, pre { overflow-wrap: anywhere; }
[hidden] { display: none !important; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
header nav { display: flex; flex-wrap: wrap; gap: 0.25rem; margin-right: auto; }
header .who { min-width: 0; color: var(--soft); font-size: 0.875rem; }
main { max-width: 76rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { margin: 0.5rem 0 1rem; font-size: 1.75rem; line-height: 1.2; }
h2 { margin: 2.25rem 0 0.75rem; font-size: 1.25rem; line-height: 1.3; }
.soft { color: var(--soft); }
.table { position: relative; overflow-x: auto; }
[data-label='What'], [data-label='Changes'] { overflow-wrap: anywhere; }
del { unicode-bidi: isolate; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1.5rem; }
dt { color: var(--soft); }
dd { min-width: 0; margin: 0; white-space: pre-line; }
form.fields { max-width: 34rem; margin-bottom: 1.75rem; }
.field { margin: 0 0 1rem; }
.field > label, legend { display: block; padding: 0; font-weight: 600; }
fieldset { margin: 0 0 1rem; padding: 0; border: 0; }
.box { display: block; padding-left: 1.5rem; font-weight: 400; }
.box input { margin-left: -1.25rem; }
.hint { display: block; color: var(--soft); font-size: 0.875rem; font-weight: 400; }
input:not([type='checkbox'], [type='radio'], [type='hidden']), select, textarea {
  width: 100%; max-width: 34rem; padding: 0.4rem 0.6rem; border: 1px solid var(--soft); border-radius: 5px;
  background: var(--ground); color: var(--text); font: inherit;
}
[aria-invalid='true'] { border-color: var(--bad) !important; }
.error { color: var(--bad); font-size: 0.875rem; }
.notice { padding: 0.75rem 1rem; border: 1px solid var(--line); border-left: 4px solid var(--link); border-radius: 4px; background: var(--shade); }
.notice.bad { border-left-color: var(--bad); }
button, .button {
  display: inline-block; padding: 0.4rem 0.9rem; border: 1px solid var(--link); border-radius: 5px; background: var(--link);
  color: var(--on-link); font: inherit; line-height: 1.4; text-decoration: none; cursor: pointer;
}
button.plain, .button.plain { border-color: var(--line); background: var(--ground); color: var(--text); }
button.bad { border-color: var(--bad); background: var(--ground); color: var(--bad); }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 1rem 0; }
.filters { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: start; margin: 0 0 1rem; }
.filters label, .filters legend { color: var(--soft); font-size: 0.8125rem; font-weight: 400; }
.filters p, .filters .field, .filters fieldset { margin: 0; }
.filters > p { align-self: end; }
.filters input:not([type='checkbox']), .filters select { width: auto; min-width: 9rem; height: 2.5rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 1rem; margin: 1.5rem 0 0.5rem; }
.chart { margin: 0; color: var(--link); }
.chart svg { display: block; width: 100%; max-width: 26rem; }
.chart text { fill: var(--soft); }
.chart figcaption { color: var(--text); }
.good { color: var(--good); }
.bad-text { color: var(--bad); }
@media (max-width: 40rem) {
  header, main { padding-inline: 1rem; }
  dl:not(.counts) { grid-template-columns: 1fr; gap: 0 0; }
  .stacked td { text-align: left; overflow-wrap: anywhere; }
  .stacked td:empty { display: none; }
  .filters .field { flex: 1 1 9rem; }
  .filters .field > input, .filters .field > select { width: 100%; }
  .stacked td[data-label]::before { content: attr(data-label) ': '; color: var(--soft); }
}
`;
