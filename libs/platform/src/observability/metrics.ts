import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Tally } from './tally';

/**
 * Name, help and labels of a metric. Names follow the Prometheus conventions: base units, and `_total` for counters.
 */
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
 * The metrics of one application. Values are read at each scrape. Only this file knows the metrics library; features
 * pass a {@link Tally} or a function.
 */
export class Metrics {
  private readonly registry = new Registry();

  /** Media type of the Prometheus text format. */
  get mediaType(): string {
    return this.registry.contentType;
  }

  /** Returns all metrics in the text format. */
  async expose(): Promise<string> {
    return this.registry.metrics();
  }

  /** Adds metrics of the process: CPU, memory, event loop, garbage collection. Call once per process. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** `buckets` are in seconds. */
  histogram<Label extends string>(
    { name, help, labels = [] }: MetricDefinition<Label>,
    buckets: readonly number[],
  ): Histogram<Label> {
    return new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [this.registry] });
  }

  /** Exposes the counts of a tally. */
  tally<Kind extends string>({ name, help }: MetricDefinition, label: string, tally: Tally<Kind>): void {
    this.counts({ name, help, labels: [label] }, () =>
      Array.from(tally.entries(), ([kind, value]) => ({ labels: { [label]: kind }, value })),
    );
  }

  /** Adds counters. Label values must form a closed set. */
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

  /** Adds a gauge. `read` returns null while there is no value. */
  gauge({ name, help }: MetricDefinition, read: () => number | null): void {
    this.gauges({ name, help }, () => {
      const value = read();
      return value === null ? [] : [{ labels: {}, value }];
    });
  }

  /** Adds gauges. Label values must form a closed set. */
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

  /** Exposes the current state as 1 and the other states as 0. */
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
