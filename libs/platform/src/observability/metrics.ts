import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Tally } from './tally';

/** What every metric has. The name follows the conventions of Prometheus: base units, `_total` for what only grows. */
export interface MetricDefinition<Label extends string = never> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

export interface Sample<Label extends string> {
  readonly labels: Readonly<Partial<Record<Label, string>>>;
  readonly value: number;
}

/**
 * The metrics of one application, read when somebody asks: what is counted elsewhere, and what things are like at that
 * moment. The one file that knows the library; features hand in a {@link Tally} or a function.
 */
export class Metrics {
  private readonly registry = new Registry();

  /** Of the exposition: the text format of Prometheus. */
  get mediaType(): string {
    return this.registry.contentType;
  }

  /** Everything, in the text format. */
  async expose(): Promise<string> {
    return this.registry.metrics();
  }

  /** Adds what concerns the whole process: processor, memory, event loop, garbage collection. Once a process. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** `buckets` in seconds. */
  histogram<Label extends string>(
    { name, help, labels = [] }: MetricDefinition<Label>,
    buckets: readonly number[],
  ): Histogram<Label> {
    return new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [this.registry] });
  }

  /** What a tally has counted. */
  tally<Kind extends string>({ name, help }: MetricDefinition, label: string, tally: Tally<Kind>): void {
    this.counts({ name, help, labels: [label] }, () =>
      Array.from(tally.entries(), ([kind, value]) => ({ labels: { [label]: kind }, value })),
    );
  }

  /** Numbers that only grow. The labels' values must be of a closed set. */
  counts<Label extends string>(
    { name, help, labels = [] }: MetricDefinition<Label>,
    read: () => Iterable<Sample<Label>>,
  ): void {
    new Counter({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const sample of read()) this.inc({ ...sample.labels }, sample.value);
      },
    });
  }

  /** A value as it is now; null while there is none. */
  gauge({ name, help }: MetricDefinition, read: () => number | null): void {
    this.gauges({ name, help }, () => {
      const value = read();
      return value === null ? [] : [{ labels: {}, value }];
    });
  }

  /** Values as they are now. The labels' values must be of a closed set. */
  gauges<Label extends string>(
    { name, help, labels = [] }: MetricDefinition<Label>,
    read: () => Iterable<Sample<Label>>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      collect() {
        this.reset();
        if (labels.length === 0) this.remove();
        for (const sample of read()) this.set({ ...sample.labels }, sample.value);
      },
    });
  }

  /** Which of several states holds: 1 for that one, 0 for the others. */
  states<State extends string>(
    { name, help }: MetricDefinition,
    label: string,
    states: readonly State[],
    current: () => State,
  ): void {
    this.gauges({ name, help, labels: [label] }, () => {
      const now = current();
      return states.map((state) => ({ labels: { [label]: state }, value: state === now ? 1 : 0 }));
    });
  }
}
