/** A page of the customers' guides. */
export interface Guide {
  /** The last part of its address: /docs/guides/<name>. */
  readonly name: string;
  /** The Markdown file, from the root of the project. Its first heading is the title, its first paragraph the summary. */
  readonly file: string;
}

/** The address in the Markdown that stands for the one of this API. */
export const EXAMPLE_ADDRESS = 'https://api.example.com';

interface Chapter {
  readonly title: string;
  readonly guides: readonly Guide[];
}

/** A program that guides link. It is served as it is. */
export const PROGRAM: Guide = { name: 'compliance_api.py', file: 'docs/recipes/compliance_api.py' };

const inDocs = (name: string): Guide => ({ name, file: `docs/${name}.md` });
const recipe = (name: string): Guide => ({ name, file: `docs/recipes/${name}.md` });
const connector = (name: string): Guide => ({ name, file: `docs/connectors/${name}.md` });

/** The menu of /docs/guides. To publish a page of `docs/`, add it here. */
export const CHAPTERS: readonly Chapter[] = [
  {
    title: 'Start',
    guides: [
      ...[inDocs('getting-started'), inDocs('authentication'), inDocs('use-no-secret'), inDocs('python')],
      { name: 'client', file: 'libs/client/README.md' },
    ],
  },
  {
    title: 'Read',
    guides: [
      inDocs('pagination'),
      inDocs('streams'),
      inDocs('filters'),
      inDocs('changes'),
      inDocs('history'),
      inDocs('read-the-audit'),
      inDocs('verify-the-audit'),
    ],
  },
  {
    title: 'Write',
    guides: [inDocs('updates'), inDocs('bulk-updates'), inDocs('idempotency'), inDocs('concurrent-updates')],
  },
  { title: 'Recipes', guides: [recipe('give-owners'), recipe('failing-computers'), recipe('leavers')] },
  {
    title: 'Connect',
    guides: [
      ...[connector('dlt'), connector('airbyte'), connector('elastic'), connector('sentinel'), connector('nodejs')],
      inDocs('ocsf'),
    ],
  },
  { title: 'Limits and errors', guides: [inDocs('rate-limits'), inDocs('errors')] },
  { title: 'Reference', guides: [inDocs('contract'), inDocs('versioning'), inDocs('changelog')] },
];

export const GUIDES: readonly Guide[] = CHAPTERS.flatMap(({ guides }) => guides);
