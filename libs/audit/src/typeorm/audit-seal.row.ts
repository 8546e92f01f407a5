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
