import { Column, Entity, PrimaryColumn, ViewColumn, ViewEntity } from 'typeorm';

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

abstract class CountedDay {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() day!: string;
  @ViewColumn() counts!: object;
}

/** The part of the assets. Migration 1780000000130 makes both views. */
@ViewEntity({ name: 'asset_day', synchronize: false })
export class AssetDayRow extends CountedDay {}

/** The part of the computers, for their feature. */
@ViewEntity({ name: 'computer_day', synchronize: false })
export class ComputerDayRow extends CountedDay {}
