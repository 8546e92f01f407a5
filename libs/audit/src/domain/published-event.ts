import type { FieldChange } from './audit-act';
import { PERSON, type RecordedEvent, kindOf } from './audit-event';

/** One changed value. Null stands for a value that is not there. */
export interface PublishedChange {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** A sealed event as clients read it, without its leaf hash. */
export interface PublishedEvent {
  readonly id: string;
  /** Place in the workspace's audit, from 1, without gaps. */
  readonly sequence: number;
  readonly occurredAt: string;
  /** The time of its checkpoint, ISO 8601. It never falls while `sequence` grows. */
  readonly recordedAt: string;
  readonly action: string;
  /**
   * `name` and `personId` are absent in events from before names were recorded, because their leaf hashes cover the form
   * without them.
   */
  readonly actor: {
    readonly type: string;
    readonly clientId: string | null;
    readonly name?: string | null;
    readonly personId?: string | null;
  };
  readonly target: { readonly type: string; readonly id: string };
  readonly request: { readonly id: string | null };
  /** Sorted by field. */
  readonly changes: readonly PublishedChange[];
}

/** The published form of an event. */
type EventToPublish = Pick<
  RecordedEvent,
  'id' | 'occurredAt' | 'kind' | 'actorName' | 'assetId' | 'clientId' | 'requestId' | 'changes'
>;

/** Makes the published form. Leaf hashes cover it, so it must never change for an event that was published. */
export function publish(event: EventToPublish, sequence: number, recordedAt: string): PublishedEvent {
  const { id, occurredAt, actorName: name, clientId, requestId } = event;
  const { action, actorType, targetType, targetId } = kindOf(event);
  return {
    id,
    sequence,
    occurredAt,
    recordedAt,
    action,
    actor: { type: actorType, clientId, ...whoOf(actorType, name) },
    target: { type: targetType, id: targetId },
    request: { id: requestId },
    changes: Object.entries(event.changes)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([field, change]) => publishChange(field, change)),
  };
}

function whoOf(actorType: string, name: string | null | undefined): Pick<PublishedEvent['actor'], 'name' | 'personId'> {
  if (name === undefined) return {};
  return actorType === PERSON ? { name: null, personId: name } : { name, personId: null };
}

/** Tags are published by their keys. Altered rows are published, too, whatever their form. */
function publishChange(field: string, change: Partial<FieldChange> | null): PublishedChange {
  const shown = field === 'tags' ? keysOf : (value: unknown) => value ?? null;
  return { field, old: shown(change?.old), new: shown(change?.new) };
}

function keysOf(tags: unknown): unknown {
  if (!Array.isArray(tags)) return tags ?? null;
  return tags.map((tag: { readonly key?: unknown } | null) => tag?.key ?? null);
}
