// A server as tutorials write it: entities with relations, findAndCount with an offset, class-transformer for output,
// and a guard that verifies the token and looks the application up. Shows the effect of this project's design.
import 'reflect-metadata';
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CanActivate,
  ClassSerializerInterceptor,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  Query,
  Req,
  UnauthorizedException,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JwtService } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Expose, plainToInstance } from 'class-transformer';
import type { Request } from 'express';
import { Column, DataSource, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm';
import { tellMeasurements } from '../measured-process';

@Entity('asset')
class AssetEntity {
  @PrimaryColumn({ type: 'bigint' }) id!: string;
  @Column({ name: 'workspace_id', type: 'uuid' }) workspaceId!: string;
  @Column({ name: 'public_id', type: 'uuid' }) publicId!: string;
  @Column({ type: 'text' }) name!: string;
  @Column({ name: 'sub_key', type: 'smallint' }) subKey!: number;
  @Column({ type: 'smallint' }) classification!: number;
  @Column({ type: 'smallint' }) visibility!: number;
  @Column({ type: 'text', nullable: true }) description!: string | null;
  @Column({ name: 'owner_id', type: 'uuid', nullable: true }) ownerId!: string | null;
  @Column({ name: 'external_id', type: 'text' }) externalId!: string;
  @Column({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
  @Column({ name: 'last_checked_at', type: 'timestamptz', nullable: true }) lastCheckedAt!: Date | null;
  @Column({ name: 'account_id', type: 'text', nullable: true }) accountId!: string | null;
  @Column({ type: 'text', nullable: true }) region!: string | null;
  @Column({ name: 'serial_number', type: 'text', nullable: true }) serialNumber!: string | null;
  @Column({ name: 'operating_system', type: 'text', nullable: true }) operatingSystem!: string | null;
  @Column({ name: 'os_version', type: 'text', nullable: true }) osVersion!: string | null;
  @Column({ type: 'text', nullable: true }) email!: string | null;
  @OneToMany(() => AssetTagEntity, (tag) => tag.asset) assetTags!: Relation<AssetTagEntity[]>;
}

@Entity('tag_key')
class TagKeyEntity {
  @PrimaryColumn({ type: 'bigint' }) id!: string;
  @Column({ type: 'text' }) key!: string;
  @Column({ type: 'text', nullable: true }) value!: string | null;
  @Column({ type: 'boolean' }) platform!: boolean;
}

@Entity('asset_tag')
class AssetTagEntity {
  @PrimaryColumn({ name: 'asset_id', type: 'bigint' }) assetId!: string;
  @PrimaryColumn({ name: 'tag_key_id', type: 'bigint' }) tagKeyId!: string;
  @ManyToOne(() => AssetEntity, (asset) => asset.assetTags)
  @JoinColumn({ name: 'asset_id' })
  asset!: Relation<AssetEntity>;
  @ManyToOne(() => TagKeyEntity)
  @JoinColumn({ name: 'tag_key_id' })
  tagKey!: Relation<TagKeyEntity>;
}

class AssetView {
  @Expose() publicId!: string;
  @Expose() name!: string;
  @Expose() subKey!: number;
  @Expose() classification!: number;
  @Expose() description!: string | null;
  @Expose() ownerId!: string | null;
  @Expose() externalId!: string;
  @Expose() createdAt!: Date;
  @Expose() lastCheckedAt!: Date | null;
  @Expose() accountId!: string | null;
  @Expose() region!: string | null;
  @Expose() serialNumber!: string | null;
  @Expose() osVersion!: string | null;
  @Expose() email!: string | null;
  @Expose() assetTags!: unknown[];
}

const publicKey = createPublicKey(readFileSync(process.env['SIGNING_KEY'] as string)).export({
  type: 'spki',
  format: 'pem',
}) as string;

@Injectable()
class TokenGuard implements CanActivate {
  constructor(
    private readonly jwt: JwtService,
    private readonly dataSource: DataSource,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request & { workspace?: string }>();
    const token = (request.headers.authorization ?? '').slice('Bearer '.length);
    const claims = await this.jwt.verifyAsync<{ client_id: string; workspace: string }>(token, {
      publicKey,
      algorithms: ['RS256'],
    });
    const found: unknown[] = await this.dataSource.query('SELECT 1 FROM application WHERE client_id = $1', [
      claims.client_id,
    ]);
    if (found.length === 0) throw new UnauthorizedException();
    request.workspace = claims.workspace;
    return true;
  }
}

@Controller('v1/inventory/assets')
@UseGuards(TokenGuard)
@UseInterceptors(ClassSerializerInterceptor)
class TutorialController {
  constructor(private readonly dataSource: DataSource) {}

  @Get()
  async list(@Req() request: Request & { workspace: string }, @Query('page') page = '1'): Promise<object> {
    const [assets, totalCount] = await this.dataSource.getRepository(AssetEntity).findAndCount({
      where: { workspaceId: request.workspace, visibility: 0 },
      relations: { assetTags: { tagKey: true } },
      order: { createdAt: 'ASC', id: 'ASC' },
      take: 25,
      skip: (Number(page) - 1) * 25,
    });
    return { results: plainToInstance(AssetView, assets, { excludeExtraneousValues: true }), totalCount };
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env['DATABASE_URL'] as string,
      entities: [AssetEntity, TagKeyEntity, AssetTagEntity],
      synchronize: false,
      installExtensions: false,
    }),
  ],
  controllers: [TutorialController],
  providers: [{ provide: JwtService, useFactory: () => new JwtService({}) }, TokenGuard],
})
class TutorialModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(TutorialModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  tellMeasurements(((app.getHttpServer() as Server).address() as AddressInfo).port);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
