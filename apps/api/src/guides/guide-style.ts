/** The style of the guides and of the problem pages. Colours follow the setting of the reader's system. */
export const GUIDE_STYLE = `:root {
  color-scheme: light dark;
  --text: #1c2530; --soft: #56616e; --line: #dde2e8; --ground: #fff; --shade: #f4f6f8; --link: #0b5cad; --mark: #e6f0fa;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #dfe5ec; --soft: #9fabb8; --line: #323b46; --ground: #14191f; --shade: #1d242c; --link: #7db8f5; --mark: #1d3147;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--link); text-underline-offset: 0.15em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: 0.875rem/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
:not(pre) > code { padding: 0.1em 0.3em; border-radius: 4px; background: var(--shade); font-size: 0.875em; }

.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; z-index: 2; padding: 0.5rem 1rem; background: var(--ground); }
header {
  position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; justify-content: space-between;
  padding: 0.75rem 1.5rem; border-bottom: 1px solid var(--line); background: var(--ground);
}
header nav { display: flex; gap: 1.25rem; }
.columns { display: grid; grid-template-columns: 15rem minmax(0, 46rem); gap: 3.5rem; max-width: 70rem; margin: 0 auto; padding: 0 1.5rem; }
main { padding: 1rem 0 4rem; }
main.alone { max-width: 58rem; margin: 0 auto; padding-inline: 1.5rem; }
h1 code { font-size: clamp(1.1rem, 6vw, 1.75rem); overflow-wrap: anywhere; }
.wrapped { padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 6px; background: var(--shade); white-space: pre-wrap; }

.menu { font-size: 0.9375rem; }
.menu details { position: sticky; top: 3.5rem; max-height: calc(100vh - 3.5rem); overflow-y: auto; padding: 1rem 0 2rem; }
.menu summary { display: none; padding: 0.5rem 0; font-weight: 600; cursor: pointer; }
.menu h2 { margin: 1.25rem 0 0.25rem; border: 0; padding: 0; color: var(--soft); font-size: 0.8125rem; font-weight: 600; }
.menu ul { margin: 0; padding: 0; list-style: none; }
.menu ul ul { margin: 0.1rem 0 0.4rem 0.6rem; border-left: 1px solid var(--line); font-size: 0.875rem; }
.menu a { display: block; padding: 0.2rem 0.6rem; border-radius: 4px; color: inherit; text-decoration: none; }
.menu a:hover { text-decoration: underline; }
.menu a[aria-current] { background: var(--mark); font-weight: 600; }

h1 { margin: 0.5rem 0 1rem; font-size: 2rem; line-height: 1.2; }
h2 { margin: 2.75rem 0 0.75rem; font-size: 1.375rem; line-height: 1.3; }
h3 { margin: 2rem 0 0.5rem; font-size: 1.0625rem; }
.anchor { color: var(--soft); font-weight: 400; text-decoration: none; opacity: 0; }
:hover > .anchor, .anchor:focus-visible { opacity: 1; }
li { margin: 0.2rem 0; }

.table { margin: 1rem 0; overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
th, td { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-size: 0.8125rem; font-weight: 600; }
td:first-child code { white-space: nowrap; }

.code { margin: 1rem 0; border: 1px solid var(--line); border-radius: 6px; background: var(--shade); }
.code pre { margin: 0; padding: 0.75rem 1rem; overflow-x: auto; }
.code figcaption {
  display: flex; gap: 0.25rem; align-items: center; min-height: 2.25rem; padding: 0 0.5rem 0 1rem;
  border-bottom: 1px solid var(--line); color: var(--soft); font-size: 0.8125rem;
}
.code button {
  padding: 0.2rem 0.6rem; border: 1px solid transparent; border-radius: 4px; background: none; color: inherit; font: inherit; cursor: pointer;
}
.code button:hover, .code button[aria-pressed='true'] { border-color: var(--line); background: var(--ground); color: var(--text); }
.code .copy { margin-left: auto; }
.code .languages { display: flex; margin-left: -0.6rem; }
.code[hidden] { display: none; }

.scrolls.table::before, .scrolls.code figcaption::after {
  content: 'Scroll sideways →'; color: var(--soft); font-size: 0.8125rem;
}
.scrolls.table::before { display: block; position: sticky; left: 0; }
.scrolls.code figcaption::after { margin-left: auto; padding-right: 0.5rem; }
.scrolls.code .copy { order: 1; margin-left: 0; }

.search { margin: 0.5rem 0 1.5rem; }
.search[hidden] { display: none; }
.search label { display: block; color: var(--soft); font-size: 0.875rem; }
.search input {
  width: 100%; max-width: 28rem; padding: 0.45rem 0.75rem; border: 1px solid var(--soft); border-radius: 6px;
  background: var(--ground); color: var(--text); font: inherit;
}
.search p { margin: 0.25rem 0; color: var(--soft); font-size: 0.875rem; }
.search ul { margin: 0; padding: 0; list-style: none; }
.search li a { display: block; padding: 0.2rem 0; }

.overview { padding: 0; list-style: none; }
.overview li { margin: 0 0 0.9rem; }
.overview a { font-weight: 600; }
.overview p { margin: 0; color: var(--soft); }
footer { display: flex; gap: 1rem; justify-content: space-between; margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line); }
footer small { display: block; color: var(--soft); }
footer [rel='next'] { margin-left: auto; text-align: right; }

@media (max-width: 56rem) {
  .columns { display: block; padding: 0 1rem; }
  header { position: static; padding: 0.75rem 1rem; }
  html { scroll-padding-top: 1rem; }
  .menu { border-bottom: 1px solid var(--line); }
  .menu details { position: static; max-height: none; padding: 0; }
  .menu details[open] { padding-bottom: 1rem; }
  .menu summary { display: list-item; }
  .menu a { padding-block: 0.35rem; }
  h1 { font-size: 1.75rem; }
  .table table { min-width: 36rem; }
}
@media (max-width: 40rem) {
  .stacked thead { position: absolute; left: -999rem; }
  .stacked tr, .stacked td { display: block; }
  .stacked tr { padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
  .stacked td { padding: 0; border: 0; }
}
@media print { header, .menu, .search, footer, .copy { display: none; } .columns { display: block; } }
`;
