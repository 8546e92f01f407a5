import type { Clock, WorkspaceId } from '#libs/kernel';
import { type BoundStatement, bind, prepared } from '#libs/platform/database';
import type { AssetChange, AuditAct, ChangeAuthor, FieldChange, RunStatement } from '../domain/audit-act';
import { ASSET_UPDATED, PERSON } from '../domain/audit-event';
import type { AuditEvidence } from '../domain/audit-evidence.port';

const INSERT_EVENTS = prepared(
  'audit_insert_events',
  `
    INSERT INTO audit_event
           (workspace_id, id, occurred_at, actor_name, asset_id, application_id, client_id, request_id, key_hash, changes,
            mac)
    SELECT $1::uuid, event.id, $2::timestamptz, '', event.asset_id, $3::uuid, $4, $5, $6, event.changes,
           decode(event.mac, 'hex')
      FROM jsonb_to_recordset($7::jsonb) AS event (id uuid, asset_id uuid, changes jsonb, mac text)`,
);

/** The action stays NULL, so that the index of updates has them too. */
const INSERT_EVENTS_OF_PERSON = prepared(
  'audit_insert_events_of_person',
  `
    INSERT INTO audit_event
           (workspace_id, id, occurred_at, actor_type, actor_name, target_type, target_id, asset_id, application_id,
            client_id, request_id, key_hash, changes, mac)
    SELECT $1::uuid, event.id, $2::timestamptz, '${PERSON}', $8, 'ASSET', event.asset_id::text, event.asset_id, $3::uuid,
           $4, $5, $6, event.changes, decode(event.mac, 'hex')
      FROM jsonb_to_recordset($7::jsonb) AS event (id uuid, asset_id uuid, changes jsonb, mac text)`,
);

const INSERT_ACT = prepared(
  'audit_insert_act',
  `
    INSERT INTO audit_event
           (workspace_id, id, occurred_at, action, actor_type, target_type, target_id, actor_name, application_id,
            client_id, request_id, key_hash, changes, mac)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, decode($14, 'hex'))`,
);

/**
 * Records updates and acts in their own transaction: applied and recorded, or neither. `operatorName` is who acts as
 * OPERATOR or IMPORT. With a person's id, the person of the console acts instead.
 */
export class AuditRecorder {
  constructor(
    private readonly evidence: AuditEvidence,
    private readonly clock: Clock,
    private readonly operatorName: string | null = null,
    private readonly personId: string | null = null,
  ) {}

  /** Records as acts of this person what services record as acts of an operator. */
  asPerson(personId: string): AuditRecorder {
    return new AuditRecorder(this.evidence, this.clock, null, personId);
  }

  /** The operator or the person, as records other than the audit name them. */
  get who(): string | null {
    return this.personId === null ? this.operatorName : `person ${this.personId}`;
  }

  /** Returns one INSERT for all changes of one update. It returns no rows. */
  statement(workspaceId: WorkspaceId, author: ChangeAuthor, changes: readonly AssetChange[]): BoundStatement {
    const now = this.clock.now();
    const occurredAt = new Date(now).toISOString();
    const { requestId } = author;
    const personId = 'personId' in author ? author.personId : null;
    const { applicationId, clientId, keyHash } =
      'personId' in author ? { applicationId: null, clientId: null, keyHash: null } : author;
    const events = changes.map(({ assetId, fields: changed }) => {
      const id = this.evidence.newEventId(now);
      const fields = asStored(changed);
      const ofPerson = { action: ASSET_UPDATED, actorType: PERSON, targetType: 'ASSET', targetId: assetId };
      const mac = this.evidence.eventMac({
        ...{ workspaceId, id, occurredAt, kind: personId === null ? null : ofPerson, actorName: personId, assetId },
        ...{ applicationId, clientId, requestId, keyHash, changes: fields, anchor: null },
      });
      return { id, asset_id: assetId, changes: fields, mac };
    });
    const values = [workspaceId, occurredAt, applicationId, clientId, requestId, keyHash, JSON.stringify(events)];
    return personId === null ? bind(INSERT_EVENTS, values) : bind(INSERT_EVENTS_OF_PERSON, [...values, personId]);
  }

  /** Records one act by statements of the transaction that carries it out. */
  async record(workspaceId: WorkspaceId, act: AuditAct, run: RunStatement): Promise<void> {
    const { text, values } = this.insertOf(workspaceId, act);
    await run(text, [...values]);
  }

  /** Returns the INSERT of an act by the sender of a request, which joins the unit of work. It returns no rows. */
  actStatement(
    workspaceId: WorkspaceId,
    { requestId, ...author }: ChangeAuthor,
    act: Pick<AuditAct, 'action' | 'target' | 'changes'>,
  ): BoundStatement {
    if ('personId' in author) {
      const recorder = this.asPerson(author.personId);
      return recorder.insertOf(workspaceId, { ...act, actor: { type: 'OPERATOR' }, requestId });
    }
    return this.insertOf(workspaceId, { ...act, actor: { type: 'APPLICATION', ...author }, requestId });
  }

  private insertOf(workspaceId: WorkspaceId, act: AuditAct): BoundStatement {
    const now = this.clock.now();
    const { applicationId, clientId, keyHash, actorName } =
      act.actor.type === 'APPLICATION'
        ? { keyHash: null, ...act.actor, actorName: null }
        : { applicationId: null, clientId: null, keyHash: null, actorName: this.personId ?? this.operatorName };
    const actorType = this.personId === null || act.actor.type === 'APPLICATION' ? act.actor.type : PERSON;
    const event = {
      workspaceId,
      id: this.evidence.newEventId(now),
      occurredAt: new Date(now).toISOString(),
      kind: { action: act.action, actorType, targetType: act.target.type, targetId: act.target.id },
      actorName,
      assetId: null,
      applicationId,
      clientId,
      requestId: act.requestId ?? null,
      keyHash,
      changes: asStored(act.changes ?? {}),
      anchor: null,
    };
    const { id, occurredAt, kind, requestId } = event;
    return bind(INSERT_ACT, [
      ...[workspaceId, id, occurredAt, kind.action, kind.actorType, kind.targetType, kind.targetId],
      ...[actorName ?? '', applicationId, clientId, requestId, keyHash],
      ...[JSON.stringify(event.changes), this.evidence.eventMac(event)],
    ]);
  }
}

/** The changes as they will be read again: the MAC covers the values after JSON conversion. */
function asStored(fields: AssetChange['fields']): Record<string, FieldChange> {
  const complete = Object.entries(fields).map(([field, change]) => [
    field,
    { old: change.old ?? null, new: change.new ?? null },
  ]);
  return JSON.parse(JSON.stringify(Object.fromEntries(complete))) as Record<string, FieldChange>;
}
