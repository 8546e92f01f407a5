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

/** Part of the number of visible assets with a key. */
@Entity('tag_count')
export class TagCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') tag_key_id!: string;
  @Column('smallint') sub_key!: number;
  @Column('smallint') facet!: number;
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  @Column('bigint') n!: string;
}
