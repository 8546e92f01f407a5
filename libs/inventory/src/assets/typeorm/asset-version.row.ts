import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** A former state of an asset. Its columns are in the document; so is the agent version of a computer. */
@Entity('asset_version')
export class AssetVersionRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') asset_id!: string;
  /** The order of the states of one asset: the lock of its row makes writers take turns. */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  /** The change set that made the state, and the one that ended it. */
  @Column('bigint') from_change!: string;
  @Column('bigint') to_change!: string;
  @Column('jsonb') document!: object;
}

/** An employee whose history was erased. The state that this change made is kept as erased when it ends. */
@Entity('erased_employee')
export class ErasedEmployeeRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('bigint') asset_id!: string;
  @Column('bigint') change_id!: string;
}
