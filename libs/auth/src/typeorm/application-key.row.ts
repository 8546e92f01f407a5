import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** A public key of an application. */
@Entity('application_key')
export class ApplicationKeyRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') client_id!: string;
  @Column('text') kid!: string;
  @Column('text', { array: true }) algorithms!: string[];
  @Column('jsonb') jwk!: Readonly<Record<string, string>>;
  @Column('timestamptz', { default: () => 'now()' }) created_at!: Date;
  @Column('timestamptz', { nullable: true }) last_used_at!: Date | null;
}
