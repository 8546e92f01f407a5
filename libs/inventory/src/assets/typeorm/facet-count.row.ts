import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('facet_count')
export class FacetCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('smallint') sub_key!: number;
  @PrimaryColumn('smallint') facet!: number;
  @Column('bigint') n!: string;
}
