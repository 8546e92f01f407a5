import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('audit_seal')
export class AuditSealRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @Column('bigint') first_sequence!: string;
  @PrimaryColumn('bigint') last_sequence!: string;
  @Column('bytea') head!: Buffer;
  @Column({ type: 'timestamptz', precision: 3 }) sealed_at!: Date;
  @Column('bytea') mac!: Buffer;
  /** Null until the events of the seal are published. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) recorded_at!: Date | null;
}

@Entity('audit_head')
export class AuditHeadRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @Column('bigint') sequence!: string;
  @Column('bytea') head!: Buffer;
  @Column('bytea') mac!: Buffer;
}

@Entity('audit_tree')
export class AuditTreeRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @Column('bigint') size!: string;
  @Column('bytea') link!: Buffer;
  @Column('bytea', { array: true }) roots!: Buffer[];
  @Column('bytea') mac!: Buffer;
}

@Entity('audit_floor')
export class AuditFloorRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @Column('bigint') sequence!: string;
  @Column('bytea') link!: Buffer;
  @Column('bytea', { array: true }) roots!: Buffer[];
  @Column({ type: 'timestamptz', precision: 3 }) recorded_at!: Date;
  @Column('bytea') mac!: Buffer;
}
