import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('audit_floor')
export class AuditFloorRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @Column('bigint') sequence!: string;
  @Column('bytea') link!: Buffer;
  @Column('bytea', { array: true }) roots!: Buffer[];
  @Column({ type: 'timestamptz', precision: 3 }) recorded_at!: Date;
  @Column('bytea') mac!: Buffer;
}
