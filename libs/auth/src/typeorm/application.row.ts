import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('application')
export class ApplicationRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') client_id!: string;
  @Column('text') name!: string;
  /** Null for an application without a secret. */
  @Column('bytea', { nullable: true }) secret_digest!: Buffer | null;
  @Column('bytea', { nullable: true }) previous_secret_digest!: Buffer | null;
  @Column('timestamptz', { nullable: true }) previous_secret_expires_at!: Date | null;
  @Column('text', { array: true }) scopes!: string[];
  /** As people write them: `{"read": "500/1000"}`. */
  @Column('jsonb', { default: {} }) limits!: Readonly<Record<string, string>>;
  @Column('boolean', { default: false }) disabled!: boolean;
  @Column('bigint', { default: 0 }) generation!: string;
  @Column('bigint', { default: 0 }) ended_generation!: string;
  /** Whether assertions may name the address of the token endpoint as audience. */
  @Column('boolean', { default: false }) old_audience!: boolean;
  @Column('uuid', { nullable: true }) jti!: string | null;
  @Column('timestamptz', { nullable: true }) issued_at!: Date | null;
  /** Null where the secret is older than this column. */
  @Column('timestamptz', { nullable: true }) secret_created_at!: Date | null;
  @Column('timestamptz', { nullable: true }) secret_last_used_at!: Date | null;
  @Column('timestamptz', { nullable: true }) previous_secret_created_at!: Date | null;
  @Column('timestamptz', { nullable: true }) previous_secret_last_used_at!: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
}
