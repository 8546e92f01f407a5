import { escapeHtml } from '#libs/kernel';

/** A day and its number. */
export interface ChartPoint {
  readonly day: string;
  readonly value: number;
}

interface Frame {
  readonly width: number;
  readonly height: number;
  /** The number at the top. By default the largest one. */
  readonly most?: number;
  readonly unit?: string;
}

/** Room for the numbers, and below for the days. */
const [LEFT, RIGHT, TOP, BELOW] = [44, 8, 12, 32];

/** Draws a line over days as SVG, from zero. Its text and line have the colour of the page. */
export function lineChart(title: string, points: readonly ChartPoint[], { width, height, ...given }: Frame): string {
  const { most = Math.max(1, ...points.map(({ value }) => value)), unit = '' } = given;
  const base = height - BELOW;
  const x = (place: number): number => LEFT + (place * (width - LEFT - RIGHT)) / Math.max(1, points.length - 1);
  const y = (value: number): number => base - (value * (base - TOP)) / most;
  const line = points.map(({ value }, place) => `${x(place).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  const text = (at: number, baseline: number, anchor: string, shown: string): string =>
    `<text x="${at}" y="${baseline}" text-anchor="${anchor}" font-size="12" fill="currentColor">${escapeHtml(shown)}</text>`;
  return (
    `<figure class="chart"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(title)}">` +
    `<path d="M${LEFT} ${TOP}V${base}H${width - RIGHT}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>` +
    `<polyline points="${line}" fill="none" stroke="currentColor" stroke-width="2"/>` +
    text(LEFT, height - 12, 'start', points[0]?.day ?? '') +
    text(width - RIGHT, height - 12, 'end', points.at(-1)?.day ?? '') +
    text(LEFT - 6, y(most) + 4, 'end', `${most}${unit}`) +
    text(LEFT - 6, base + 4, 'end', `0${unit}`) +
    `</svg><figcaption>${escapeHtml(title)}</figcaption></figure>\n`
  );
}
