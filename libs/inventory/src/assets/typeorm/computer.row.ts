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

const state = (check: string): string => `CASE WHEN ${check} THEN 2 WHEN NOT ${check} THEN 1 ELSE 0 END`;

/**
 * SQL of `asset.posture`, given a row with the columns of {@link ComputerRow}: monitored times 81, then 27, 9, 3 and 1
 * times the checks (0 unknown, 1 failing, 2 passing). `POSTURES` of the feature computers has the same order.
 */
export const postureOf = (row: string): string => `(
  CASE WHEN ${row}.agent_version IS NOT NULL OR ${row}.managed THEN 81 ELSE 0 END
  + 27 * ${state(`${row}.antivirus_installed`)} + 9 * ${state(`${row}.disk_encryption_enabled`)}
  + 3 * ${state(`${row}.password_manager_installed`)} + ${state(`${row}.screen_lock_enabled`)})::smallint`;
