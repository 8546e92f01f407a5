interface DescribedProblem {
  readonly type: string;
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
  readonly example: string;
}

/** Page on one problem. Its texts are our own, from the one table; they are escaped all the same. */
export function problemPage(problem: DescribedProblem): string {
  const { type, code, status, title, cause, remedy, example } = problem;
  const body = { type, title, status, code, detail: example, instance: '/v1/…', requestId: '…' };
  return page(
    code,
    `<h1><code>${code}</code></h1><p>HTTP ${status} ${escaped(title)}</p>
     <h2>Cause</h2><p>${prose(cause)}</p>
     <h2>Remedy</h2><p>${prose(remedy)}</p>
     <h2>Example</h2><pre>${escaped(JSON.stringify(body, null, 2))}</pre>
     <p><a href="/problems">All problems</a></p>`,
  );
}

export function problemListPage(problems: readonly DescribedProblem[]): string {
  const rows = problems
    .map(
      ({ code, status, cause }) =>
        `<tr><td>${status}</td><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${prose(cause)}</td></tr>`,
    )
    .join('\n');
  return page(
    'Problems',
    `<h1>Problems</h1><p>Every error is <code>application/problem+json</code> with one of these codes.</p>
     <table><tr><th>Status</th><th>Code</th><th>Cause</th></tr>${rows}</table>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-bottom:1px solid #ddd}
pre{background:#f5f5f5;padding:1rem;overflow:auto}</style></head>
<body>${body}</body></html>
`;
}

const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
