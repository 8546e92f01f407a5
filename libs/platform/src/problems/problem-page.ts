import { type ErrorCode, escapeHtml } from '#libs/kernel';
import { framePage } from './page-frame';
import { type Problem, problemExample } from './problem';
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
  const { cause, remedy } = PROBLEMS[code];
  const example = problemExample(code, baseUrl);
  const { type, status, title } = example;
  return { type, code, status, title, cause, remedy, example };
}

/**
 * Renders the page of one problem. Links are relative, because only a proxy may know the path of the base URL. The
 * texts are our own, and are escaped all the same.
 */
export function problemPage({ code, status, title, cause, remedy, example }: DescribedProblem): string {
  return page(
    code,
    '../docs/',
    `<h1><code>${escapeHtml(code)}</code></h1><p>HTTP ${status} ${escapeHtml(title)}</p>
     <h2>Cause</h2><p>${prose(cause)}</p>
     <h2>Remedy</h2><p>${prose(remedy)}</p>
     <h2>Example</h2><pre class="wrapped">${escapeHtml(JSON.stringify(example, null, 2))}</pre>
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
    'docs/',
    `<h1>Problems</h1><p>Every error is <code>application/problem+json</code> with one of these codes.
     The <a href="docs/guides/errors">guide to errors</a> says how a program handles them.</p>
     <table class="stacked"><thead><tr><th>Status</th><th>Code</th><th>Cause</th></tr></thead><tbody>${rows}</tbody></table>`,
  );
}

const page = (title: string, up: string, main: string): string =>
  framePage({ title: escapeHtml(title), up, body: `<main id="main" class="alone">\n${main}\n</main>` });

const prose = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
