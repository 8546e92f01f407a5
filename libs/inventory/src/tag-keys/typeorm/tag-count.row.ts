import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('tag_count')
export class TagCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') tag_key_id!: string;
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  @Column('bigint') n!: string;
}
