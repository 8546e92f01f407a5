import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { ClientKey } from '../domain/client-assertion';

/** An issuer whose tokens prove an application. */
@Entity('application_trust')
export class ApplicationTrustRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') client_id!: string;
  @Column('text') issuer!: string;
  @Column('text') subject!: string;
  /** Null means the address of the API. */
  @Column('text', { nullable: true }) audience!: string | null;
  @Column('text', { default: 'PENDING' }) state!: 'PENDING' | 'READY' | 'FAILED';
  /** Why the last fetch failed. */
  @Column('text', { nullable: true }) failure!: string | null;
  /** Whether an operator gave the keys, so that they are never fetched. */
  @Column('boolean', { default: false }) given!: boolean;
  @Column('boolean', { default: false }) insecure!: boolean;
  @Column('boolean', { default: false }) of_operator!: boolean;
  @Column('jsonb', { default: [] }) keys!: readonly ClientKey[];
  @Column('timestamptz', { nullable: true }) keys_at!: Date | null;
  @Column('timestamptz', { nullable: true }) attempted_at!: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
  @Column('timestamptz', { nullable: true }) last_used_at!: Date | null;
}
