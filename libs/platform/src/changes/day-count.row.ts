import { Column, Entity, PrimaryColumn } from 'typeorm';

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
