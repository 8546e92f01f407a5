import { setTimeout as delay } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, context, propagation, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Request } from 'express';
import { SERVICE_VERSION } from '../config/service-version';
import type { OutgoingCall, RequestTrace, ServedRequest, Tracing } from './trace';
import { SpanSender } from './span-sender';

const SERVICE = 'compliance-api';
/** Maximum wait for the collector when the process stops. */
const LAST_WORDS_MS = 3_000;
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;

/**
 * Sends traces by OpenTelemetry. Loaded only when tracing is on. The SDK reads sampler, resource and headers from its
 * own OTEL_… settings.
 */
export class OpenTelemetryTracing implements Tracing {
  /** `endpoint` is the collector's base address. OTLP adds a path. */
  static to(endpoint: string, warn: (message: string) => void): OpenTelemetryTracing {
    const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
    const own = resourceFromAttributes({ 'service.name': SERVICE, 'service.version': SERVICE_VERSION });
    const provider = new NodeTracerProvider({
      resource: defaultResource()
        .merge(own)
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(new SpanSender(exporter, warn))],
    });
    provider.register();
    return new OpenTelemetryTracing(provider);
  }

  private readonly tracer: Tracer;

  private constructor(private readonly provider: NodeTracerProvider) {
    this.tracer = provider.getTracer(SERVICE, SERVICE_VERSION);
  }

  request(request: Request): RequestTrace {
    // Takes only the two hexadecimal ids from the client. `tracestate` may hold anything.
    const { traceparent } = request.headers;
    const parent = propagation.extract(ROOT_CONTEXT, { traceparent });
    const { requestId, instance } = request.context;
    const attributes = {
      'http.request.method': request.method,
      'url.scheme': request.protocol,
      'network.protocol.version': request.httpVersion,
      'compliance.request_id': requestId,
    };
    const span = this.tracer.startSpan(request.method, { kind: SpanKind.SERVER, attributes }, parent);
    const within = trace.setSpan(parent, span);
    return {
      traceId: span.spanContext().traceId,
      run: (work) => context.with(within, work),
      end: (served) => {
        const { method, route, status } = served;
        if (route !== null) {
          span.updateName(`${method} ${route}`);
          span.setAttribute('http.route', route);
          // Other text in a path comes from the client and may be a misplaced secret.
          if (instance.replace(UUID, ':id') === route) span.setAttribute('url.path', instance);
        }
        span.setAttributes(outcomeOf(served));
        if (status === null || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  async call<Result>({ name, attributes }: OutgoingCall, work: () => Promise<Result>): Promise<Result> {
    // Background work of the instance belongs to no request.
    if (!trace.getActiveSpan()) return work();
    return this.tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes: { ...attributes } }, async (span) => {
      try {
        return await work();
      } catch (error) {
        // Not the message, which may quote values.
        const { code, name: kind } = error as { code?: unknown; name?: unknown };
        span.setAttribute('error.type', String(code ?? kind));
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  }

  async stop(): Promise<void> {
    const stopped = this.provider.shutdown().catch(() => undefined);
    await Promise.race([stopped, delay(LAST_WORDS_MS, undefined, { ref: false })]);
  }
}

function outcomeOf({ status, code, workspaceId, clientId, bytes }: ServedRequest): Record<string, string | number> {
  return {
    ...(status !== null && { 'http.response.status_code': status }),
    ...((status === null || status >= 500) && { 'error.type': status === null ? 'aborted' : (code ?? String(status)) }),
    ...(code !== null && { 'compliance.problem_code': code }),
    ...(workspaceId !== null && { 'compliance.workspace_id': workspaceId }),
    ...(clientId !== null && { 'compliance.client_id': clientId }),
    'http.response.body.size': bytes,
  };
}
