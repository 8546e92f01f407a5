import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('audit_tree')
export class AuditTreeRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @Column('bigint') size!: string;
  @Column('bytea') link!: Buffer;
  @Column('bytea', { array: true }) roots!: Buffer[];
  @Column('bytea') mac!: Buffer;
}
