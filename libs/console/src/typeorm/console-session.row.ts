import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('console_session')
export class ConsoleSessionRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  /** SHA-256 of the random part of the cookie. */
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('uuid') person_id!: string;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
  @Column('timestamptz', { default: () => 'now()' }) used_at!: Date;
  /** Client ids by the one-time id of the form that made them, empty while it is under way. */
  @Column('jsonb', { default: {} }) made!: Readonly<Record<string, string>>;
}
