/** A page for people, as HTML without its frame. */
export interface FramedPage {
  /** As HTML. */
  readonly title: string;
  /** The way from the page to /docs/. Links are relative, because a proxy may put a path before them. */
  readonly up: string;
  /** The columns below the header, with one `main` that has the id `main`. */
  readonly body: string;
}

/** Puts the header of the guides above a page. The style is a file, because no page may have one inline. */
export function framePage({ title, up, body }: FramedPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Compliance Platform Public API</title>
<link rel="icon" type="image/png" href="${up}favicon-32x32.png" sizes="32x32">
<link rel="stylesheet" href="${up}guides.css">
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
<strong>Compliance Platform Public API</strong>
<nav aria-label="Site"><a href="${up}guides">Guides</a> <a href="${up}../docs">Try it</a> <a href="${up}../problems">Problems</a></nav>
</header>
${body}
</body>
</html>
`;
}
