import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RunFile, RunOutcome } from '../domain/recorded-run';
import type { ImportCounts, ImportError } from '../domain/import-report';

@Entity('import_run')
export class ImportRunRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') source!: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) started_at!: Date;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) ended_at!: Date | null;
  @Column('text') outcome!: RunOutcome;
  @Column('text', { nullable: true }) who!: string | null;
  @Column('text', { nullable: true }) map!: string | null;
  @Column('jsonb') options!: Record<string, unknown>;
  @Column('jsonb') files!: RunFile[];
  @Column('jsonb') counts!: ImportCounts;
  @Column('text', { nullable: true }) hidden_why!: string | null;
  @Column('jsonb') errors!: ImportError[];
  @Column('jsonb') warnings!: ImportError[];
}

/** When the last completed import of a source is stale. */
@Entity('import_freshness')
export class ImportFreshnessRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('text') source!: string;
  @Column('integer') stale_after_seconds!: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) set_at!: Date;
}

/** The lock that an import of a source, unless it is a dry run, holds until its connection ends. Migration 1780000000090 looks for it. */
export const importLockOf = (workspace: string, source: string): string =>
  `hashtextextended('import ' || ${workspace} || ' ' || ${source}, 0)`;
