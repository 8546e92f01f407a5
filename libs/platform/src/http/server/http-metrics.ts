import type { Histogram } from 'prom-client';
import type { Metrics, Sample } from '../../observability/metrics';
import type { ServedRequest } from '../../observability/trace';
import { Tally } from '../../observability/tally';
import type { Bucket, RequestContext } from '../request-context';

/** From the time of a cached row to five seconds, the limit of every wait, and a margin. */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Methods with a label of their own. All others share one label. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** One time series, bound once: looking labels up costs more than counting. */
interface Series extends Sample<'route' | 'method' | 'status' | 'code'> {
  value: number;
  readonly duration: ReturnType<Histogram<'route' | 'method' | 'status_class'>['labels']>;
}

/** Counts requests by route template, never by path, so clients cannot create time series. */
export class HttpMetrics {
  private readonly durations: Histogram<'route' | 'method' | 'status_class'>;
  private readonly denials = new Tally<Bucket>(['token', 'read', 'write', 'export']);
  private readonly series = new Map<string, Series>();
  private inFlight = 0;

  constructor(metrics: Metrics) {
    metrics.counts(
      {
        name: 'http_requests_total',
        help: 'Requests served, by route template, method, status and problem code.',
        labels: ['route', 'method', 'status', 'code'],
      },
      () => this.series.values(),
    );
    this.durations = metrics.histogram(
      {
        name: 'http_request_duration_seconds',
        help: 'Time from the head of a request to the end of its response, without streams.',
        labels: ['route', 'method', 'status_class'],
      },
      BUCKETS_SECONDS,
    );
    metrics.gauge({ name: 'http_requests_in_flight', help: 'Requests in progress.' }, () => this.inFlight);
    metrics.tally(
      { name: 'compliance_rate_limit_denials_total', help: 'Requests refused with 429, by bucket.' },
      'class',
      this.denials,
    );
  }

  begin(): void {
    this.inFlight += 1;
  }

  /** Called once for every request that was begun. */
  end(served: ServedRequest, { bucket, isStream }: RequestContext): void {
    this.inFlight -= 1;
    this.count(served, isStream);
    if (served.code === 'rate_limited' && bucket !== null) this.denials.add(bucket);
  }

  /** Also counts requests that Node's parser refused. How long a stream takes says nothing about the service. */
  count({ method, route, status, code, durationMs }: ServedRequest, isStream = false): void {
    const known = method !== null && METHODS.has(method) ? method : 'other';
    const key = `${status} ${code} ${known} ${route}`;
    let series = this.series.get(key);
    if (!series) this.series.set(key, (series = this.bind(route ?? 'unmatched', known, status, code ?? '')));
    series.value += 1;
    if (!isStream) series.duration.observe(durationMs / 1_000);
  }

  private bind(route: string, method: string, status: number | null, code: string): Series {
    const statusClass = status === null ? 'aborted' : `${Math.floor(status / 100)}xx`;
    return {
      labels: { route, method, status: status === null ? 'aborted' : String(status), code },
      value: 0,
      duration: this.durations.labels({ route, method, status_class: statusClass }),
    };
  }
}
