import type { INestApplicationContext } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { RepeatedWork } from '../background';
import type { Metrics } from '../observability';

/** Exposes when each repeated work of the process last succeeded. Of several of one class the one furthest behind counts. */
export function watchBackgroundWork(metrics: Metrics, app: INestApplicationContext): void {
  const providers = [...app.get(ModulesContainer).values()].flatMap((module) => [...module.providers.values()]);
  const works = providers.flatMap(({ instance }) => (instance instanceof RepeatedWork ? [instance] : []));
  metrics.gauges(
    {
      name: 'compliance_background_last_success_timestamp_seconds',
      help: 'Unix time when a work in the background last succeeded; before the first time, of its start.',
      labels: ['work'],
    },
    () => {
      const times = new Map<string, number>();
      for (const { constructor, succeededAt } of works)
        times.set(constructor.name, Math.min(succeededAt, times.get(constructor.name) ?? Infinity));
      return Array.from(times, ([work, time]) => ({ labels: { work }, value: time / 1_000 }));
    },
  );
}
