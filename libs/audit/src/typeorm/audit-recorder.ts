import { type Clock, type WorkspaceId, personName } from '#libs/kernel';
import { type BoundStatement, bind, prepared } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import type { AssetChange, AuditAct, ChangeAuthor, FieldChange, PersonAuthor, RunStatement } from '../domain/audit-act';
import { ASSET_UPDATED, type AuditEvent, type EventKind, PERSON } from '../domain/audit-event';
import type { AuditEvidence } from '../domain/audit-evidence.port';
import { exportAct } from '../domain/export-act';

const INSERT_EVENTS = prepared(
  'audit_insert_events',
  `
    INSERT INTO audit_event
           (workspace_id, id, occurred_at, action, actor_type, target_type, target_id, actor_name, asset_id, application_id,
            client_id, request_id, key_hash, changes, mac)
    SELECT $1::uuid, event.id, $2::timestamptz, event.action, event.actor_type, event.target_type, event.target_id, $3,
           event.asset_id, $4::uuid, $5, $6, $7, event.changes, decode(event.mac, 'hex')
      FROM jsonb_to_recordset($8::jsonb) AS event
           (id uuid, action text, actor_type text, target_type text, target_id text, asset_id uuid, changes jsonb, mac text)`,
);

type Sender = Required<Pick<AuditEvent, 'actorName' | 'applicationId' | 'clientId' | 'requestId' | 'keyHash'>>;

const NOBODY = { actorName: null, applicationId: null, clientId: null, keyHash: null };

/**
 * Records updates and acts in their own transaction: applied and recorded, or neither. `operatorName` is who acts as
 * OPERATOR or IMPORT. With a person, the person of the console acts instead.
 */
export class AuditRecorder {
  constructor(
    private readonly evidence: AuditEvidence,
    private readonly clock: Clock,
    private readonly operatorName: string | null = null,
    private readonly person: PersonAuthor | null = null,
  ) {}

  /** Records as acts of this person what services record as acts of an operator. */
  asPerson(person: PersonAuthor): AuditRecorder {
    return new AuditRecorder(this.evidence, this.clock, null, person);
  }

  /** The operator or the person, as records other than the audit name them. */
  get who(): string | null {
    return this.person === null ? this.operatorName : personName(this.person.personId);
  }

  /** Returns one INSERT for all changes of one update. It returns no rows. */
  statement(
    workspaceId: WorkspaceId,
    { requestId, ...author }: ChangeAuthor,
    changes: readonly AssetChange[],
  ): BoundStatement {
    const ofPerson = 'personId' in author;
    const sender = { ...NOBODY, ...(ofPerson ? { actorName: author.personId } : author), requestId };
    const kind = { action: ASSET_UPDATED, actorType: PERSON, targetType: 'ASSET' };
    const events = changes.map(({ assetId, fields }) => ({
      kind: ofPerson ? { ...kind, targetId: assetId } : null,
      assetId,
      changes: fields,
    }));
    return this.insert(workspaceId, sender, events);
  }

  /** Records one act by statements of the transaction that carries it out. */
  async record(workspaceId: WorkspaceId, act: AuditAct, run: RunStatement): Promise<void> {
    const { text, values } = this.insertAct(workspaceId, act);
    await run(text, [...values]);
  }

  /** Records one act of an operator, or of the person, in the manager's transaction. */
  async recordAct(manager: EntityManager, workspaceId: WorkspaceId, act: Omit<AuditAct, 'actor'>): Promise<void> {
    const run: RunStatement = (text, values) => manager.query(text, values);
    await this.record(workspaceId, { ...act, actor: { type: 'OPERATOR' } }, run);
  }

  /** Records a list that was read as a whole, at its end. A workspace that was deleted meanwhile has no audit any more. */
  async recordExport(
    manager: EntityManager,
    workspaceId: WorkspaceId,
    { resource, rows, requestId }: { readonly resource: string; readonly rows: number; readonly requestId: string },
    actor: AuditAct['actor'] = { type: 'OPERATOR' },
  ): Promise<void> {
    const isThere = await manager.query<object[]>('SELECT FROM workspace WHERE id = $1', [workspaceId]);
    if (isThere.length === 0) return;
    const act = { ...exportAct(resource, rows, requestId), actor };
    await this.record(workspaceId, act, (text, values) => manager.query(text, values));
  }

  /** Returns the INSERT of an act by the sender of a request, which joins the unit of work. It returns no rows. */
  actStatement(
    workspaceId: WorkspaceId,
    author: ChangeAuthor,
    act: Pick<AuditAct, 'action' | 'target' | 'changes'>,
  ): BoundStatement {
    if ('personId' in author) {
      return this.asPerson(author).insertAct(workspaceId, { ...act, actor: { type: 'OPERATOR' } });
    }
    const { requestId, ...application } = author;
    return this.insertAct(workspaceId, { ...act, actor: { type: 'APPLICATION', ...application }, requestId });
  }

  private insertAct(workspaceId: WorkspaceId, act: AuditAct): BoundStatement {
    const { type, ...application } = act.actor;
    const who = type === 'APPLICATION' ? null : (this.person?.personId ?? this.operatorName);
    const actorType = type === 'APPLICATION' || this.person === null ? type : PERSON;
    const kind = { action: act.action, actorType, targetType: act.target.type, targetId: act.target.id };
    const sender = {
      ...NOBODY,
      ...application,
      actorName: who,
      requestId: act.requestId ?? this.person?.requestId ?? null,
    };
    const assetId = act.target.type === 'ASSET' ? act.target.id : null;
    return this.insert(workspaceId, sender, [{ kind, assetId, changes: act.changes ?? {} }]);
  }

  private insert(
    workspaceId: WorkspaceId,
    sender: Sender,
    events: readonly Pick<AuditEvent, 'kind' | 'assetId' | 'changes'>[],
  ): BoundStatement {
    const now = this.clock.now();
    const occurredAt = new Date(now).toISOString();
    const rows = events.map(({ kind, assetId, changes: given }) => {
      const [id, changes] = [this.evidence.newEventId(now), asStored(given)];
      const event = { workspaceId, id, occurredAt, kind, ...sender, assetId, changes, anchor: null };
      return { id, ...columnsOf(kind), asset_id: assetId, changes, mac: this.evidence.eventMac(event) };
    });
    const { actorName, applicationId, clientId, requestId, keyHash } = sender;
    const values = [workspaceId, occurredAt, actorName ?? '', applicationId, clientId, requestId, keyHash];
    return bind(INSERT_EVENTS, [...values, JSON.stringify(rows)]);
  }
}

/** The action of an update stays NULL, whoever made it, so that the index of updates has it. */
const columnsOf = (kind: EventKind | null) =>
  kind && {
    action: kind.action === ASSET_UPDATED ? null : kind.action,
    actor_type: kind.actorType,
    target_type: kind.targetType,
    target_id: kind.targetId,
  };

/** The changes as they will be read again, which the MAC covers: JSON keeps no value that is undefined. */
function asStored(fields: AssetChange['fields']): Record<string, FieldChange> {
  const complete = Object.entries(fields).map(([field, change]): [string, FieldChange] => [
    field,
    { old: change.old ?? null, new: change.new ?? null },
  ]);
  return Object.fromEntries(complete);
}
