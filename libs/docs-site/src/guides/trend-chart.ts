import MarkdownIt from 'markdown-it';

const [WIDTH, HEIGHT, MARGIN] = [640, 200, 36];
const { utils } = new MarkdownIt();

/** Draws lines of a day and a number (CSV) as SVG, from zero. Its text and line have the colour of the page. */
export function trendChart(title: string, csv: string): string {
  const points = csv
    .trim()
    .split('\n')
    .map((line) => line.split(','))
    .map(([day = '', value]) => ({ day, value: Number(value) }));
  const most = Math.max(1, ...points.map(({ value }) => value));
  const x = (place: number): number => MARGIN + (place * (WIDTH - 2 * MARGIN)) / Math.max(1, points.length - 1);
  const y = (value: number): number => HEIGHT - MARGIN - (value * (HEIGHT - 2 * MARGIN)) / most;
  const line = points.map(({ value }, place) => `${x(place).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  const text = (at: number, height: number, anchor: string, shown: string): string =>
    `<text x="${at}" y="${height}" text-anchor="${anchor}" font-size="12" fill="currentColor">${utils.escapeHtml(shown)}</text>`;
  const base = HEIGHT - MARGIN;
  return (
    `<figure class="chart"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${utils.escapeHtml(title)}">` +
    `<path d="M${MARGIN} ${MARGIN}V${base}H${WIDTH - MARGIN}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>` +
    `<polyline points="${line}" fill="none" stroke="currentColor" stroke-width="2"/>` +
    text(MARGIN, HEIGHT - 14, 'start', points[0]?.day ?? '') +
    text(WIDTH - MARGIN, HEIGHT - 14, 'end', points.at(-1)?.day ?? '') +
    text(MARGIN - 6, y(most) + 4, 'end', String(most)) +
    text(MARGIN - 6, base + 4, 'end', '0') +
    `</svg><figcaption>${utils.escapeHtml(title)}</figcaption></figure>\n`
  );
}
