import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('audit_head')
export class AuditHeadRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @Column('bigint') sequence!: string;
  @Column('bytea') head!: Buffer;
  @Column('bytea') mac!: Buffer;
}
