import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('tag_key')
export class TagKeyRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  @Column('text') key!: string;
  @Column('text', { nullable: true }) value!: string | null;
  @Column('boolean', { default: false }) platform!: boolean;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
}

/** The number of visible assets with a key, by type and facet. */
@Entity('tag_count')
export class TagCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') tag_key_id!: string;
  @PrimaryColumn('smallint') sub_key!: number;
  @PrimaryColumn('smallint') facet!: number;
  @Column('bigint') n!: string;
}
