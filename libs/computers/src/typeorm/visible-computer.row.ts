import { ViewColumn, ViewEntity } from 'typeorm';
import type { Tag } from '../domain/computer';

@ViewEntity({ name: 'visible_computer', synchronize: false })
export class VisibleComputerRow {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() id!: string;
  @ViewColumn() public_id!: string;
  @ViewColumn() name!: string;
  @ViewColumn() operating_system!: string | null;
  @ViewColumn() os_version!: string | null;
  @ViewColumn() serial_number!: string | null;
  @ViewColumn() owner_id!: string | null;
  @ViewColumn() last_checked_at!: Date | null;
  @ViewColumn() tags!: Tag[];
  @ViewColumn() is_monitored!: boolean;
  @ViewColumn() agent_version!: string | null;
  @ViewColumn() antivirus_installed!: boolean | null;
  @ViewColumn() disk_encryption_enabled!: boolean | null;
  @ViewColumn() password_manager_installed!: boolean | null;
  @ViewColumn() screen_lock_enabled!: boolean | null;
  @ViewColumn() updated_at!: Date;
  @ViewColumn() source!: string;
}
