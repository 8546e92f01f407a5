import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Role } from '../domain/person';

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
  @Column('timestamptz', { nullable: true }) removed_at!: Date | null;
  /** SHA-256 of the one-time link. */
  @Column('bytea', { nullable: true }) link_digest!: Buffer | null;
  @Column('timestamptz', { nullable: true }) link_expires_at!: Date | null;
}
