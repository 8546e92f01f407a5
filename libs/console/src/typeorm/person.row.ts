import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn, VirtualColumn } from 'typeorm';
import type { Role } from '../domain/person';

/** By the clock of the database alone. An addition in the future was before the clock was set back. */
const IS_NEW = "BETWEEN now() - interval '14 days' AND now() + interval '1 hour'";

@Entity('person')
export class PersonRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryGeneratedColumn('uuid') id!: string;
  /** Null once erased, like the name. */
  @Column('text', { nullable: true }) email!: string | null;
  @Column('text', { nullable: true }) name!: string | null;
  @Column('text') role!: Role;
  /** With the subject, the account that the person signs in by; null until then. */
  @Column('text', { nullable: true }) issuer!: string | null;
  @Column('text', { nullable: true }) subject!: string | null;
  @Column('timestamptz', { default: () => 'now()' }) added_at!: Date;
  @Column('timestamptz', { nullable: true }) signed_in_at!: Date | null;
  /** Whether the person signed in, or was added in the last 14 days. The function console_memberships says the same. */
  @VirtualColumn('boolean', { query: (one) => `${one}.signed_in_at IS NOT NULL OR ${one}.added_at ${IS_NEW}` })
  may_sign_in!: boolean;
  @Column('timestamptz', { nullable: true }) removed_at!: Date | null;
  /** SHA-256 of the one-time link. */
  @Column('bytea', { nullable: true }) link_digest!: Buffer | null;
  @Column('timestamptz', { nullable: true }) link_expires_at!: Date | null;
}
