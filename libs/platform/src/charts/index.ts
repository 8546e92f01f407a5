export { type ChartPoint, lineChart } from './line-chart';
