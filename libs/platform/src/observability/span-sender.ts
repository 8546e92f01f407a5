import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

type Done = Parameters<SpanExporter['export']>[1];

/** OpenTelemetry's code for a successful export. */
const ARRIVED = 0;

/** Logs once when the collector becomes unreachable and once when it is back. Drops spans that could not be sent. */
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
        // Not the error itself, which may hold headers and the collector's response.
        this.warn(failed ? 'traces cannot be sent and are dropped' : 'traces are sent again');
      }
      // The batch processor is always told success. It would otherwise log every failed batch.
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
