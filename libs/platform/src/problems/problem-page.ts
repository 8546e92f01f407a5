import type { ErrorCode } from '#libs/kernel';
import type { Problem } from './problem';
import { problemExample } from './problem-example';
import { PROBLEMS } from './problem-table';

/** A problem as its URL describes it: JSON for programs, a page for people. */
export interface DescribedProblem {
  readonly type: string;
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
  /** A complete response, the same as in the contract. */
  readonly example: Problem;
}

export function describeProblem(code: ErrorCode, baseUrl: string): DescribedProblem {
  const { status, title, cause, remedy } = PROBLEMS[code];
  const example = problemExample(code, baseUrl);
  return { type: example.type, code, status, title, cause, remedy, example };
}

/**
 * Renders the page of one problem. Links are relative, because only a proxy may know the path of the base URL. The
 * texts are our own, and are escaped all the same.
 */
export function problemPage({ code, status, title, cause, remedy, example }: DescribedProblem): string {
  return page(
    code,
    `<h1><code>${escaped(code)}</code></h1><p>HTTP ${status} ${escaped(title)}</p>
     <h2>Cause</h2><p>${prose(cause)}</p>
     <h2>Remedy</h2><p>${prose(remedy)}</p>
     <h2>Example</h2><pre>${escaped(JSON.stringify(example, null, 2))}</pre>
     <p><a href="../problems">All problems</a> · <a href="../docs/guides/errors">Guide to errors</a></p>`,
  );
}

export function problemListPage(problems: readonly DescribedProblem[]): string {
  const rows = problems
    .map(
      ({ code, status, cause }) =>
        `<tr><td>${status}</td><td><a href="problems/${code}"><code>${code}</code></a></td><td>${prose(cause)}</td></tr>`,
    )
    .join('\n');
  return page(
    'Problems',
    `<h1>Problems</h1><p>Every error is <code>application/problem+json</code> with one of these codes.
     The <a href="docs/guides/errors">guide to errors</a> says how a program handles them.</p>
     <table><tr><th>Status</th><th>Code</th><th>Cause</th></tr>${rows}</table>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>:root{color-scheme:light dark;--line:#ddd;--shade:#f5f5f5;--link:#0b5cad}
@media(prefers-color-scheme:dark){:root{--line:#323b46;--shade:#1d242c;--link:#7db8f5}body{background:#14191f;color:#dfe5ec}}
a{color:var(--link)}
body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;overflow-wrap:break-word}
h1{font-size:clamp(1.2rem,6vw,2rem)}
table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-bottom:1px solid var(--line)}
pre{background:var(--shade);padding:1rem;white-space:pre-wrap}
@media(max-width:40rem){tr:first-child{display:none}tr,td{display:block}tr{border-bottom:1px solid var(--line);padding:.6rem 0}
td{border:0;padding:0}}</style></head>
<body>${body}</body></html>
`;
}

const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
