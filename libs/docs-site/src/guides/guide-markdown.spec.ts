import { renderGuide } from './guide-markdown';

describe('A guide rendered from Markdown', () => {
  it('shows markup of its source as text', () => {
    const { html, summary } = renderGuide(
      '# T\n\n<script>a</script> <b>b</b>.\n\n```sh\necho <b>\n```\n',
      'docs/errors.md',
    );

    expect(html + summary).not.toMatch(/<script|<b>/);
    expect(html).toContain('echo &lt;b&gt;');
  });

  it.each([
    ['a guide', 'updates.md', 'updates'],
    ['a section of a guide', 'updates.md#clear-a-field', 'updates#clear-a-field'],
    ['a section of itself', '#codes', '#codes'],
    ['the client', '../libs/client/README.md', 'client'],
    ['the contract', 'contract/openapi.json', '../openapi.json'],
    ['another site', 'https://example.com/x', 'https://example.com/x'],
  ])('links %s: %s', (_, target, href) => {
    expect(renderGuide(`# T\n\n[text](${target})\n`, 'docs/errors.md').html).toContain(`<a href="${href}">text</a>`);
  });

  it("resolves links of the client's README from that file", () => {
    const { html } = renderGuide('# T\n\n[text](../../docs/errors.md)\n', 'libs/client/README.md');

    expect(html).toContain('<a href="errors">text</a>');
  });

  it('links no page that customers cannot open', () => {
    expect(() => renderGuide('# T\n\n[text](operations.md)\n', 'docs/errors.md')).toThrow(/links operations\.md/);
  });

  it('names tables and examples after their heading, for those who scroll them', () => {
    const { html } = renderGuide('# T\n\n## `a` & b\n\n| c |\n| - |\n| d |\n\n```sh\ne\n```\n', 'docs/errors.md');

    for (const name of ['Table in “a &amp; b”', 'Shell example in “a &amp; b”']) {
      expect(html).toContain(`role="region" aria-label="${name}" tabindex="0"`);
    }
  });

  it('gives the text below each heading to the search', () => {
    const { passages } = renderGuide(
      '# T\n\nOne `two`.\n\n## Codes\n\n| a |\n| - |\n| b |\n\n```sh\nrun\n```\n',
      'docs/errors.md',
    );

    expect(passages.map(({ id, heading, text }) => [id, heading, text.split(/\s+/).filter(Boolean).join(' ')])).toEqual(
      [
        ['t', 'T', 'One two.'],
        ['codes', 'Codes', 'a b run'],
      ],
    );
  });

  it('gives headings the ids that GitHub gives them', () => {
    const { sections } = renderGuide(
      '# T\n\n## When a token is refused: `401`\n\n## Codes\n\n## Codes\n',
      'docs/errors.md',
    );

    expect(sections.map(({ id }) => id)).toEqual(['when-a-token-is-refused-401', 'codes', 'codes-1']);
  });

  it('draws a trend from its days and numbers', () => {
    const { html } = renderGuide('# T\n\n```trend Owned < all\n2026-11-01,0\n2026-11-02,40\n```\n', 'docs/errors.md');

    expect(html).toContain('<polyline points="44.0,168.0 632.0,12.0"');
    expect(html).toContain('aria-label="Owned &lt; all"');
    for (const shown of ['2026-11-01', '2026-11-02', '>40<', '>0<']) expect(html).toContain(shown);
  });
});
