import type { FieldChange } from './asset-change';

/** Something that is not an update of an asset, as its writer tells the audit (additions, section 6). */
export interface AuditAct {
  readonly action: string;
  readonly actor:
    | { readonly type: 'OPERATOR' | 'IMPORT' }
    | { readonly type: 'APPLICATION'; readonly applicationId: string; readonly clientId: string };
  readonly target: { readonly type: 'APPLICATION' | 'TAG_KEY' | 'IMPORT' | 'INVENTORY'; readonly id: string };
  readonly requestId?: string;
  /** Never a secret or its digest. */
  readonly changes?: Readonly<Record<string, FieldChange>>;
}

/** Runs a statement in the writer's transaction, and returns its rows. */
export type RunStatement = (text: string, values: unknown[]) => Promise<unknown>;
