import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('asset_tag')
export class AssetTagRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') asset_id!: string;
  @PrimaryColumn('bigint') tag_key_id!: string;
  @Column('text', { nullable: true }) value!: string | null;
}
