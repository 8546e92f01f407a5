import { escapeHtml } from '#libs/kernel';
import { framePage } from '#libs/platform/problems';
import { CHAPTERS, type Guide } from './guide-list';
import type { RenderedGuide } from './guide-markdown';

export type RenderedGuides = ReadonlyMap<Guide, RenderedGuide>;

/** The page of one guide. All links are relative, because a proxy may put a path before them. */
export function guidePage(guide: Guide, rendered: RenderedGuides): string {
  const { title, html } = pageOf(guide, rendered);
  return page({ title, up: '../', menu: menu('', rendered, guide), main: `${html}${neighbours(guide, rendered)}` });
}

/** The page that lists all guides. */
export function guideOverview(rendered: RenderedGuides): string {
  const chapters = CHAPTERS.map(({ title, guides }) => {
    const entries = guides.map((guide) => {
      const { title: name, summary } = pageOf(guide, rendered);
      return `<li><a href="guides/${guide.name}">${name}</a><p>${summary}</p></li>`;
    });
    return `<h2>${title}</h2><ul class="overview">${entries.join('')}</ul>`;
  });
  const main = `<h1>Guides</h1><p>Use the API from your own programs. Every example is a whole program.</p>${chapters.join('\n')}`;
  return page({ title: 'Guides', up: '', menu: menu('guides/', rendered), main });
}

const pageOf = (guide: Guide, rendered: RenderedGuides): RenderedGuide => rendered.get(guide) as RenderedGuide;

function menu(path: string, rendered: RenderedGuides, current?: Guide): string {
  const entry = (guide: Guide): string => {
    const { title, sections } = pageOf(guide, rendered);
    if (guide !== current) return `<li><a href="${path}${guide.name}">${title}</a></li>`;
    const links = sections.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`).join('');
    return `<li><a href="${path}${guide.name}" aria-current="page">${title}</a><ul>${links}</ul></li>`;
  };
  return CHAPTERS.map(({ title, guides }) => `<h2>${title}</h2><ul>${guides.map(entry).join('')}</ul>`).join('\n');
}

/** The guides before and after this one in the menu. */
function neighbours(guide: Guide, rendered: RenderedGuides): string {
  const guides = [...rendered.keys()];
  const place = guides.indexOf(guide);
  const link = (other: Guide | undefined, relation: string, label: string): string =>
    other
      ? `<a rel="${relation}" href="${other.name}"><small>${label}</small>${pageOf(other, rendered).title}</a>`
      : '';
  return `<footer>${link(guides[place - 1], 'prev', 'Previous')}${link(guides[place + 1], 'next', 'Next')}</footer>`;
}

interface Page {
  readonly title: string;
  /** The way from the page to /docs/. */
  readonly up: string;
  readonly menu: string;
  readonly main: string;
}

function page({ title, up, menu, main }: Page): string {
  const body = `<div class="columns">
<nav class="menu" aria-label="Guides"><details open><summary>Menu</summary>
${menu}
</details></nav>
<script src="${up}guides.js"></script>
<script type="module" src="${up}guides-search.js"></script>
<script type="module" src="${up}guides-wide.js"></script>
<main id="main">
<div class="search" role="search" hidden>
<label for="search">Search the guides</label>
<input id="search" type="search" autocomplete="off" spellcheck="false">
<p role="status"></p>
<ul></ul>
</div>
${main}
</main>
</div>`;
  return framePage({ title: escapeHtml(title), up, body });
}
