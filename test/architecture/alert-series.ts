/** @needs promtool */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demandProgram } from '../support/programs.cjs';
import { root } from './project-files';

/** Values of series by selector, in promtool's notation: `first+step x times`, one value a minute. */
export type Series = Readonly<Record<string, string>>;

/** What Prometheus scrapes, and the alerts that fire after each of these times. */
export interface Situation {
  readonly series: Series;
  readonly minutes: readonly number[];
  readonly firing: readonly string[];
}

/** Enough for the longest situation. */
const LENGTH = 120;
export const always = (value: number): string => `${value}x${LENGTH}`;
/** Grows by so much a minute. */
export const growing = (perMinute: number, from = 0): string => `${from}+${perMinute}x${LENGTH}`;
/** A value for some minutes, and then another one. `_` is no value. */
export const then = (minutes: number, before: number | '_', after: string): string =>
  `${before}x${minutes - 1} ${after}`;

const API = 'job="compliance-public-api"';
const CONSOLE = 'job="compliance-console"';

/** An instance of the API under load, with Redis and a standby. */
export function anInstance(name: string, instances = 2): Series {
  const labels = (rest = ''): string => `{${API},instance="${name}"${rest && `,${rest}`}}`;
  const zero = always(0);
  return {
    [`up${labels()}`]: always(1),
    [`compliance_ready${labels()}`]: always(1),
    [`compliance_replicas${labels()}`]: always(instances),
    [`compliance_build_info${labels('version="1"')}`]: always(1),
    [`http_requests_total${labels('status="200",code=""')}`]: growing(600),
    [`http_requests_total${labels('status="503",code="service_unavailable"')}`]: zero,
    [`http_request_duration_seconds_bucket${labels('route="/a",le="0.1"')}`]: growing(600),
    [`http_request_duration_seconds_bucket${labels('route="/a",le="2.5"')}`]: growing(600),
    [`http_request_duration_seconds_bucket${labels('route="/a",le="+Inf"')}`]: growing(600),
    [`compliance_token_requests_total${labels('outcome="invalid_client"')}`]: growing(0.1),
    [`compliance_idempotency_outcomes_total${labels('outcome="in_progress"')}`]: zero,
    [`compliance_streams_total${labels('outcome="failed"')}`]: zero,
    [`compliance_database_acquisition_timeouts_total${labels('pool="primary"')}`]: zero,
    [`compliance_database_pool_waiting${labels('pool="primary"')}`]: zero,
    [`compliance_database_replica_used${labels('pool="replica_1"')}`]: always(1),
    [`compliance_database_replica_lag_seconds${labels('pool="replica_1"')}`]: always(1),
    [`compliance_redis_state${labels('state="away"')}`]: zero,
    [`compliance_redis_circuit_transitions_total${labels('to="opened"')}`]: zero,
    [`compliance_audit_seal_failures_total${labels('reason="altered"')}`]: zero,
    [`compliance_audit_seal_lag_seconds${labels()}`]: always(5),
    [`compliance_audit_seal_last_look_timestamp_seconds${labels()}`]: growing(60),
    [`compliance_audit_bytes${labels()}`]: growing(1_000, 1e9),
    [`compliance_import_age_seconds${labels('workspace="w",source="s"')}`]: growing(60),
    [`compliance_import_stale_after_seconds${labels('workspace="w",source="s"')}`]: always(90_000),
    [`compliance_trusted_keys_age_seconds${labels('workspace="w",client_id="c",trust="t",kind="fetched"')}`]:
      always(600),
    [`compliance_trusted_keys_age_seconds${labels('workspace="w",client_id="c",trust="u",kind="given"')}`]: always(600),
    [`compliance_background_last_success_timestamp_seconds${labels('work="HistoryWork"')}`]: growing(60),
    [`compliance_log_lines_dropped_total${labels()}`]: zero,
    [`nodejs_eventloop_lag_p99_seconds${labels()}`]: always(0.02),
    [`process_start_time_seconds${labels()}`]: always(1),
    [`process_resident_memory_bytes${labels()}`]: always(2e8),
    [`process_open_fds${labels()}`]: always(100),
    [`process_max_fds${labels()}`]: always(20_000),
  };
}

export const aConsole: Series = {
  [`up{${CONSOLE},instance="c"}`]: always(1),
  [`compliance_ready{${CONSOLE},instance="c"}`]: always(1),
  [`process_start_time_seconds{${CONSOLE},instance="c"}`]: always(1),
};

/** Returns the series with other values, or without those, that hold every text. @throws when none does */
export function changed(series: Series, texts: readonly string[], values: string | null): Series {
  const names = Object.keys(series).filter((name) => texts.every((text) => name.includes(text)));
  if (names.length === 0) throw new Error(`no series has ${texts.join(' and ')}`);
  const rest = Object.entries(series).filter(([name]) => !names.includes(name));
  const others = values === null ? [] : names.map((name) => [name, values]);
  return Object.fromEntries([...rest, ...others]) as Series;
}

/** Runs the shipped rules over each situation by promtool. Returns what it says of those that differ. */
export function differences(situations: readonly Situation[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'alerts-'));
  try {
    const tests = situations.map(({ series, minutes, firing }) => ({
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: minutes.map((time) => ({
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${time}m`,
        exp_samples: [...new Set(firing)].map((name) => ({
          labels: `{alertname="${name}"}`,
          value: firing.filter((one) => one === name).length,
        })),
      })),
    }));
    const file = join(directory, 'situations.json');
    const rules = join(root, 'docker/prometheus/alerts.yml');
    writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests }));
    const { status, stdout, stderr } = spawnSync(demandProgram('promtool'), ['test', 'rules', file], {
      encoding: 'utf8',
    });
    return status === 0 ? '' : stdout + stderr;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
