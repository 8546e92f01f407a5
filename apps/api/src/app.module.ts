import './young-objects';
import { type DynamicModule, Module } from '@nestjs/common';
import { AuthModule } from '#libs/auth';
import { ComputersModule } from '#libs/computers';
import { InventoryModule } from '#libs/inventory';
import { DatabaseModule, PlatformModule, type Settings } from '#libs/platform';
import { requestPipeline } from './request-pipeline';

@Module({})
export class AppModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(settings),
        DatabaseModule.forRoot({
          url: settings.databaseUrl,
          poolSize: settings.databasePoolSize,
          patience: 'request',
          replicaUrls: settings.databaseReplicaUrls,
          preparedStatements: settings.preparedStatements,
        }),
        AuthModule,
        InventoryModule,
        ComputersModule,
      ],
      providers: [...requestPipeline],
    };
  }
}
