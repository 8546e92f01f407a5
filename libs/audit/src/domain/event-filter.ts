import type { EventFilter } from './audit-log.port';
import type { PublishedEvent } from './published-event';

/** Filters of the list, the one with the fewest events first. */
export const FILTERS_BY_WIDTH = ['requestId', 'assetId', 'clientId', 'action'] as const;

export type FilterName = (typeof FILTERS_BY_WIDTH)[number];

/** Whether the event passes all filters, apart from `until`. */
export function matches(event: PublishedEvent, filter: EventFilter): boolean {
  const values: Readonly<Record<FilterName, string | null>> = {
    requestId: event.request.id,
    assetId: event.target.type === 'ASSET' ? event.target.id : null,
    clientId: event.actor.clientId,
    action: event.action,
  };
  return FILTERS_BY_WIDTH.every((name) => filter[name] === undefined || filter[name] === values[name]);
}
