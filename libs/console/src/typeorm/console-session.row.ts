import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A use in the future was before the clock was set back. The session would outlive its eight hours. */
export const IS_ALIVE =
  "created_at > now() - interval '8 hours' AND used_at BETWEEN now() - interval '1 hour' AND now() + interval '1 hour'";

@Entity('console_session')
export class ConsoleSessionRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  /** SHA-256 of the random part of the cookie. */
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('uuid') person_id!: string;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
  @Column('timestamptz', { default: () => 'now()' }) used_at!: Date;
}
