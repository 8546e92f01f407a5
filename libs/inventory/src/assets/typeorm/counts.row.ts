import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('facet_count')
export class FacetCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('smallint') sub_key!: number;
  @PrimaryColumn('smallint') facet!: number;
  @Column('bigint') n!: string;
}

@Entity('source_count')
export class SourceCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('text') source!: string;
  @PrimaryColumn('smallint') sub_key!: number;
  @PrimaryColumn('smallint') facet!: number;
  @Column('bigint') n!: string;
}
