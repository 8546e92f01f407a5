import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('computer')
export class ComputerRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') asset_id!: string;
  @Column('boolean', { nullable: true }) managed!: boolean | null;
  @Column('text', { nullable: true }) agent_version!: string | null;
  @Column('boolean', { nullable: true }) antivirus_installed!: boolean | null;
  @Column('boolean', { nullable: true }) disk_encryption_enabled!: boolean | null;
  @Column('boolean', { nullable: true }) password_manager_installed!: boolean | null;
  @Column('boolean', { nullable: true }) screen_lock_enabled!: boolean | null;
}
