import { posix } from 'node:path';
import { escapeHtml } from '#libs/kernel';
import MarkdownIt, { type Token } from 'markdown-it';
import { GUIDES, PROGRAM } from './guide-list';
import { trendChart } from './trend-chart';

export interface Heading {
  readonly id: string;
  readonly text: string;
}

/** The text below one heading, to search. */
export interface Passage {
  /** The id of the heading. */
  readonly id: string;
  readonly heading: string;
  readonly text: string;
}

/** A guide as HTML. */
export interface RenderedGuide {
  readonly title: string;
  /** The first sentence, as HTML without links: it also stands on other pages. */
  readonly summary: string;
  /** The headings of the second level. */
  readonly sections: readonly Heading[];
  readonly passages: readonly Passage[];
  readonly html: string;
}

interface Environment {
  readonly file: string;
  /** The heading above the token that is being rendered. It names tables and examples. */
  heading?: string;
}

const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'JavaScript',
  python: 'Python',
  json: 'JSON',
  http: 'HTTP',
  yaml: 'YAML',
  cel: 'CEL',
};

const markdown = new MarkdownIt({ html: false });

markdown.core.ruler.push('prepare', ({ tokens, env }) => {
  const idOf = headingIds();
  tokens.forEach((token, place) => {
    if (token.type === 'heading_open') token.attrSet('id', idOf(textOf(tokens[place + 1])));
    for (const child of token.children ?? []) {
      if (child.type === 'link_open') child.attrSet('href', hrefOf(child.attrGet('href') ?? '', env as Environment));
    }
  });
});

Object.assign(markdown.renderer.rules, {
  // Wide tables and long lines scroll, and a keyboard can scroll only what takes the focus.
  table_open: (_tokens: Token[], _place: number, _options: unknown, environment: Environment) =>
    `<div class="table" ${scrollRegion('Table', environment)}><table>\n`,
  table_close: () => '</table></div>\n',
  fence: (tokens: Token[], place: number, _options: unknown, environment: Environment) => {
    const { info = '', content = '' } = tokens[place] ?? {};
    const [language = '', ...title] = info.split(' ');
    if (language === 'trend') return trendChart(title.join(' '), content);
    const name = LANGUAGES[language] ?? 'Text';
    return (
      `<figure class="code" data-language="${name}"><figcaption>${name}</figcaption>` +
      `<pre ${scrollRegion(`${name} example`, environment)}><code>${escapeHtml(content)}</code></pre></figure>\n`
    );
  },
  heading_close: (tokens: Token[], place: number, _options: unknown, environment: Environment) => {
    environment.heading = textOf(tokens[place - 1]);
    const heading = tokens[place - 2];
    const tag = heading?.tag ?? '';
    if (tag === 'h1') return '</h1>\n';
    const label = escapeHtml(`Link to “${textOf(tokens[place - 1])}”`);
    return ` <a class="anchor" href="#${heading?.attrGet('id') ?? ''}" aria-label="${label}">#</a></${tag}>\n`;
  },
});

/** The attributes of an element that a keyboard can scroll, with a name for screen readers. */
function scrollRegion(kind: string, { heading }: Environment): string {
  const name = heading === undefined ? kind : `${kind} in “${heading}”`;
  return `role="region" aria-label="${escapeHtml(name)}" tabindex="0"`;
}

/** Renders the Markdown of a page. `file` is its path in the project, from which its links are read. */
export function renderGuide(text: string, file: string): RenderedGuide {
  const environment: Environment = { file };
  const tokens = markdown.parse(text, environment);
  const headings = tokens.flatMap((token, place) =>
    token.type === 'heading_open'
      ? [{ level: token.tag, id: token.attrGet('id') ?? '', text: textOf(tokens[place + 1]) }]
      : [],
  );
  const lead = tokens[tokens.findIndex(({ type }) => type === 'paragraph_open') + 1]?.content ?? '';
  return {
    title: headings.find(({ level }) => level === 'h1')?.text ?? file,
    summary: markdown.renderInline(firstSentence(lead), environment),
    sections: headings.filter(({ level }) => level === 'h2'),
    passages: passagesOf(tokens),
    html: markdown.renderer.render(tokens, markdown.options, environment),
  };
}

function passagesOf(tokens: readonly Token[]): Passage[] {
  const passages: { id: string; heading: string; text: string }[] = [];
  tokens.forEach((token, place) => {
    const passage = passages.at(-1);
    if (token.type === 'heading_open') {
      passages.push({ id: token.attrGet('id') ?? '', heading: textOf(tokens[place + 1]), text: '' });
    } else if (passage && tokens[place - 1]?.type !== 'heading_open') {
      passage.text += token.type === 'fence' ? ` ${token.content}` : ` ${textOf(token)}`;
    }
  });
  return passages;
}

const firstSentence = (lead: string): string =>
  lead
    .replace(/\s+/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^(.*?\.) .*$/, '$1');

const textOf = (token: Token | undefined): string =>
  (token?.children ?? []).map(({ type, content }) => (['text', 'code_inline'].includes(type) ? content : '')).join('');

/** Gives headings the ids that GitHub gives them, so that links work in both places. */
function headingIds(): (text: string) => string {
  const seen = new Map<string, number>();
  return (text) => {
    const id = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(id) ?? 0;
    seen.set(id, before + 1);
    return before === 0 ? id : `${id}-${before}`;
  };
}

/** @throws when the link leads to a page that customers cannot open. */
function hrefOf(href: string, { file }: Environment): string {
  if (/^(https?:|#)/.test(href)) return href;
  const [path = '', fragment] = href.split('#');
  const target = posix.join(posix.dirname(file), path);
  const guide = [...GUIDES, PROGRAM].find((one) => one.file === target);
  const address = target === 'docs/contract/openapi.json' ? '../openapi.json' : guide?.name;
  if (address === undefined) throw new Error(`${file} links ${href}, which is no guide. Add it to guide-list.ts.`);
  return fragment === undefined ? address : `${address}#${fragment}`;
}
