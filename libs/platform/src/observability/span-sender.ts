import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

type Done = Parameters<SpanExporter['export']>[1];

/** OpenTelemetry's code for spans that arrived. */
const ARRIVED = 0;

/** Says once that a collector cannot be reached, and once that it can be again. Spans that did not arrive are dropped. */
export class SpanSender implements SpanExporter {
  private failing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly warn: (message: string) => void,
  ) {}

  export(spans: ReadableSpan[], done: Done): void {
    this.exporter.export(spans, (result) => {
      const failed = Number(result.code) !== ARRIVED;
      if (failed !== this.failing) {
        this.failing = failed;
        // Not the error itself: it may hold the headers, and what the collector answered.
        this.warn(failed ? 'Traces cannot be sent, and are dropped.' : 'Traces are sent again.');
      }
      // To the batch processor all is well: it could only complain of every batch.
      done({ code: ARRIVED });
    });
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }

  async shutdown(): Promise<void> {
    await this.exporter.shutdown();
  }
}
