import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('owner_count')
export class OwnerCountRow {
  @PrimaryColumn('uuid') workspace_id!: string;
  @PrimaryColumn('uuid') owner_id!: string;
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  @Column('bigint') n!: string;
}
