import './garbage-collection';
import { type DynamicModule, Module } from '@nestjs/common';
import { DatabaseModule } from '#libs/platform/database';
import { PlatformModule } from '#libs/platform';
import { type Settings } from '#libs/platform/config';
import { FEATURES, entities } from '../../features';
import { requestPipeline } from './request-pipeline';

@Module({})
export class AppModule {
  static async forRoot(settings: Settings): Promise<DynamicModule> {
    const features = await Promise.all(FEATURES.map((feature) => feature.api()));
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(settings),
        DatabaseModule.forRoot({
          url: settings.databaseUrl,
          poolSize: settings.databasePoolSize,
          patience: 'request',
          entities,
          standbyUrls: settings.databaseStandbyUrls,
          preparedStatements: settings.preparedStatements,
        }),
        ...features,
      ],
      providers: [...requestPipeline],
    };
  }
}
