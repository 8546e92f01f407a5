import 'reflect-metadata';
import { type DynamicModule, Global, type INestApplicationContext, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ApplicationsService, type Workspace, WorkspacesService, makeMissingKeys } from '#libs/auth/operators';
import { AuditArchiveService, AuditService } from '#libs/audit/operators';
import {
  DemoService,
  FacetCountersService,
  ImportsService,
  RemovedAssets,
  TagKeysService,
} from '#libs/inventory/operators';
import { FeedRestart } from '#libs/platform/changes';
import { DatabaseModule } from '#libs/platform/database';
import { IdempotencyPurge } from '#libs/platform/idempotency';
import type { ProcessLogger } from '#libs/platform/observability';
import { Settings } from '#libs/platform/config';
import { unreadableKey } from '#libs/platform/keys';
import { setTimeout as delay } from 'node:timers/promises';
import { FEATURES, entities } from '../../features';
import { CommandFailed } from './command-faults';
import { Interruption } from './interruption';
import { type OperatorDatabase, openOperatorDatabase } from './operator-database';

/** A command does one thing at a time, except that an import merges while it reads. */
const POOL_SIZE = 4;

/** The services that operators' commands use. */
export interface Operator {
  readonly workspaces: WorkspacesService;
  readonly applications: ApplicationsService;
  readonly tagKeys: TagKeysService;
  readonly imports: ImportsService;
  readonly demo: DemoService;
  readonly removedAssets: RemovedAssets;
  readonly feedRestart: FeedRestart;
  readonly audit: AuditService;
  readonly auditArchive: AuditArchiveService;
  readonly facetCounters: FacetCountersService;
  readonly idempotencyPurge: IdempotencyPurge;
  /** Long work calls it between steps. @throws once the command was interrupted */
  readonly checkInterrupted: () => void;
}

/** Opens the database while `work` runs, which may be interrupted. */
export async function withDatabase<Result>(
  work: (database: OperatorDatabase, interruption: Interruption) => Promise<Result>,
): Promise<Result> {
  const interruption = new Interruption();
  const database = await interruption.outcomeOf(openOperatorDatabase());
  try {
    interruption.check();
    return await interruption.outcomeOf(work(database, interruption));
  } finally {
    await database.close();
  }
}

/** Runs `work` with the features' services. */
export async function operate<Result>(work: (operator: Operator) => Promise<Result>): Promise<Result> {
  return withDatabase((database, interruption) => operateOn(database, interruption, work));
}

/** Runs `work` with the features' services on an open database. */
export async function operateOn<Result>(
  { settings, migrationDatabaseUrl }: OperatorDatabase,
  interruption: Interruption,
  work: (operator: Operator) => Promise<Result>,
): Promise<Result> {
  if (!settings.production) await makeMissingKeys(settings);
  const context = await createContext(settings, migrationDatabaseUrl);
  try {
    return await interruption.outcomeOf(
      work({
        workspaces: context.get(WorkspacesService),
        applications: context.get(ApplicationsService),
        tagKeys: context.get(TagKeysService),
        imports: context.get(ImportsService),
        demo: context.get(DemoService),
        removedAssets: context.get(RemovedAssets),
        feedRestart: context.get(FeedRestart),
        audit: context.get(AuditService),
        auditArchive: context.get(AuditArchiveService),
        facetCounters: context.get(FacetCountersService),
        idempotencyPurge: context.get(IdempotencyPurge),
        checkInterrupted: interruption.check,
      }),
    );
  } finally {
    // Closing waits for connections in use, which interrupted work may never release.
    await Promise.race([context.close(), delay(3_000)]);
  }
}

/** @throws when there is none */
export async function workspaceOf(operator: Operator, slug: string): Promise<Workspace> {
  const workspace = await operator.workspaces.findBySlug(slug);
  if (workspace === null) throw new CommandFailed(`There is no workspace "${slug}".`);
  return workspace;
}

async function createContext(settings: Settings, databaseUrl: string): Promise<INestApplicationContext> {
  try {
    const features = await Promise.all(FEATURES.flatMap(({ operators }) => operators?.() ?? []));
    return await NestFactory.createApplicationContext(OperatorModule.forRoot(settings, databaseUrl, features), {
      logger: await logger(settings.logLevel),
      abortOnError: false,
    });
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    const setting = new Map([
      [settings.secretPepperFile, 'SECRET_PEPPER_FILE'],
      [settings.auditKeyFile, 'AUDIT_KEY_FILE'],
    ]).get(path ?? '');
    if (setting === undefined) throw error;
    throw new CommandFailed(unreadableKey(setting, path ?? '', code));
  }
}

/** Nest's log only helps to find faults. Uses stderr, because stdout is the command's output. */
async function logger(level: string): Promise<ProcessLogger | false> {
  if (level !== 'debug' && level !== 'trace') return false;
  const { ProcessLogger } = await import('#libs/platform/observability');
  const { destination, pino } = await import('pino');
  return new ProcessLogger(pino({ level, base: undefined, messageKey: 'message' }, destination(2)));
}

@Global()
@Module({})
class OperatorModule {
  static forRoot(settings: Settings, databaseUrl: string, features: readonly Type[]): DynamicModule {
    return {
      module: OperatorModule,
      imports: [
        DatabaseModule.forRoot({ url: databaseUrl, poolSize: POOL_SIZE, patience: 'operator', entities }),
        ...features,
      ],
      providers: [{ provide: Settings, useValue: settings }, IdempotencyPurge],
      exports: [Settings],
    };
  }
}
