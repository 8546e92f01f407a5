import { Column, Entity, Generated, PrimaryColumn } from 'typeorm';

@Entity('change_set')
export class ChangeSetRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') sequence!: string;
  @Column('bigint') id!: string;
  @Column('uuid') @Generated('uuid') mark!: string;
  @Column('timestamptz') changed_at!: Date;
  @Column('smallint') origin!: number;
  /** Names the application; for another origin the operator or "person ID", which older sets lack. */
  @Column('text', { nullable: true }) client_id!: string | null;
  @Column('text', { nullable: true }) request_id!: string | null;
  @Column('boolean', { default: false }) emptied!: boolean;
}

@Entity('change_head')
export class ChangeHeadRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @Column('bigint') sequence!: string;
  @Column('uuid') mark!: string;
  @Column('timestamptz') changed_at!: Date;
  @Column('bigint', { default: 0 }) purged_sequence!: string;
  @Column('bigint', { default: 0 }) restarted_sequence!: string;
}

/** Counts of the visible assets and computers at the last instant of a past day, written once. */
@Entity('day_count')
export class DayCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('date') day!: string;
  /** Arrays of sub key, facet and number. */
  @Column('jsonb') assets!: object;
  /** Arrays of posture and number. */
  @Column('jsonb') computers!: object;
}
