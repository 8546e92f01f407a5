import { Module } from '@nestjs/common';
import { auditServices } from '#libs/audit';
import { auditRecording } from '#libs/audit/operators';
import { applicationServices, grantCache } from '#libs/auth/operators';
import { computerServices } from '#libs/computers';
import { inventoryServices } from '#libs/inventory';
import { Clock } from '#libs/kernel';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { ApplicationsController } from './http/applications.controller';
import { AssetChanges } from './http/asset-changes';
import { AuditController } from './http/audit.controller';
import { ComputersController } from './http/computers.controller';
import { ConsoleFilter } from './http/console.filter';
import { ConsoleGuard } from './http/console.guard';
import { Cookies } from './http/cookies';
import { Downloads } from './http/downloads';
import { FairShare } from './http/fair-share';
import { ImportsController } from './http/imports.controller';
import { InventoryController } from './http/inventory.controller';
import { Names } from './http/names';
import { OverviewController } from './http/overview.controller';
import { PeopleController } from './http/people.controller';
import { SignInController } from './http/sign-in.controller';
import { SignInLimit } from './http/sign-in-limit';
import { Uploads } from './http/uploads';
import { ImportProcesses } from './http/import-processes';
import { UploadFiles } from './system/upload-files.system';
import { Issuer } from './system/issuer.system';
import { People } from './typeorm/people';
import { Sessions } from './typeorm/sessions';

/** The pages of the console, and who may see them. */
@Module({
  controllers: [
    SignInController,
    OverviewController,
    InventoryController,
    ComputersController,
    ImportsController,
    ApplicationsController,
    PeopleController,
    AuditController,
  ],
  providers: [
    { provide: APP_GUARD, useClass: ConsoleGuard },
    { provide: APP_FILTER, useClass: ConsoleFilter },
    FairShare,
    { provide: APP_INTERCEPTOR, useExisting: FairShare },
    AssetChanges,
    Cookies,
    Downloads,
    SignInLimit,
    Issuer,
    People,
    Sessions,
    Names,
    Uploads,
    UploadFiles,
    ImportProcesses,
    {
      // The options of Nest's reader of forms with a file.
      provide: 'MULTER_MODULE_OPTIONS',
      useFactory: (storage: Uploads) => ({ storage, defParamCharset: 'utf8' }),
      inject: [Uploads],
    },
    ...auditRecording,
    ...auditServices,
    ...inventoryServices,
    ...computerServices,
    ...applicationServices,
    // In production REDIS_URL may be missing here alone.
    grantCache({ cachedElsewhere: ({ production }) => production }),
    Clock,
  ],
})
export class ConsoleModule {}
