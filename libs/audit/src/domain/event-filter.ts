import type { PublishedEvent } from './published-event';

/** Restricts the list. An absent member restricts nothing. */
export interface EventFilter {
  readonly action?: string;
  /** The application that acted. */
  readonly clientId?: string;
  readonly assetId?: string;
  readonly requestId?: string;
  /** Only events that were recorded before it. */
  readonly until?: Date;
}

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
