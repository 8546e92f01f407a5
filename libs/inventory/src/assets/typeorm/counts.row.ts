import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('facet_count')
export class FacetCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('smallint') sub_key!: number;
  @PrimaryColumn('smallint') facet!: number;
  @Column('bigint') n!: string;
}

@Entity('owner_count')
export class OwnerCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('uuid') owner_id!: string;
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
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
