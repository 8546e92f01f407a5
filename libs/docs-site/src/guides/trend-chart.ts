import { lineChart } from '#libs/platform/charts';

/** Draws lines of a day and a number (CSV). */
export function trendChart(title: string, csv: string): string {
  const points = csv
    .trim()
    .split('\n')
    .map((line) => line.split(','))
    .map(([day = '', value]) => ({ day, value: Number(value) }));
  return lineChart(title, points, { width: 640, height: 200 });
}
