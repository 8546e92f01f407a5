import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An assertion that obtained a token. */
@Entity('used_assertion')
export class UsedAssertionRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('text') client_id!: string;
  @PrimaryColumn('bytea') jti_digest!: Buffer;
  @Column('timestamptz') expires_at!: Date;
}
