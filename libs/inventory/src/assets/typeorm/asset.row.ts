import { Column, Entity, Generated, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Tag } from '../domain/asset';

@Entity('asset')
export class AssetRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  @Column('uuid') @Generated('uuid') public_id!: string;
  @Column('text') source!: string;
  @Column('text') external_id!: string;
  @Column('smallint') sub_key!: number;
  @Column('smallint', { default: 0 }) visibility!: number;
  @Column('smallint', { default: 0 }) classification!: number;
  @Column('smallint', { nullable: true }) owner_source!: number | null;
  @Column('smallint', { default: 0 }) api_set!: number;
  @Column('integer', { default: 1 }) version!: number;
  @Column('uuid', { nullable: true }) owner_id!: string | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
  @Column('timestamptz', { nullable: true }) last_checked_at!: Date | null;
  @Column('text') name!: string;
  @Column('text', { nullable: true }) description!: string | null;
  @Column('jsonb', { default: [] }) tags!: Tag[];
  @Column('text', { nullable: true }) account_id!: string | null;
  @Column('text', { nullable: true }) region!: string | null;
  @Column('text', { nullable: true }) serial_number!: string | null;
  @Column('text', { nullable: true }) operating_system!: string | null;
  @Column('text', { nullable: true }) os_version!: string | null;
  @Column('text', { nullable: true }) email!: string | null;
  @Column('boolean', { nullable: true }) contains_patient_data!: boolean | null;
  @Column('boolean', { nullable: true }) contains_user_data!: boolean | null;
  @Column('text', { nullable: true }) user_data_info!: string | null;
  @Column('bigint') change_id!: string;
  @Column('timestamptz', { default: () => 'now()' }) updated_at!: Date;
  /** Postgres computes it. */
  @Column({ type: 'smallint', nullable: true, insert: false, update: false }) facet!: number | null;
}
