import 'reflect-metadata';
import { type DynamicModule, Global, type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ApplicationsService,
  AuthOperatorModule,
  type Workspace,
  WorkspacesService,
  makeMissingKeys,
} from '#libs/auth';
import { DemoService, ImportsService, InventoryOperatorModule, TagKeysService } from '#libs/inventory';
import { DatabaseModule, ProcessLogger, Settings } from '#libs/platform';
import { setTimeout as delay } from 'node:timers/promises';
import { destination, pino } from 'pino';
import { CommandFailed } from './command-faults';
import { Interruption } from './interruption';
import { type OperatorDatabase, openOperatorDatabase } from './operator-database';

/** A command does one thing at a time; an import merges while it reads. */
const POOL_SIZE = 4;

/** What operators' commands do their work with. */
export interface Operator {
  readonly workspaces: WorkspacesService;
  readonly applications: ApplicationsService;
  readonly tagKeys: TagKeysService;
  readonly imports: ImportsService;
  readonly demo: DemoService;
  /** For long work to call between its steps; throws once the command was interrupted. */
  readonly checkInterrupted: () => void;
}

/** Opens the database for the time of `work`, which may be interrupted. */
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

/** Runs `work` with the services of the features on the database. */
export async function operate<Result>(work: (operator: Operator) => Promise<Result>): Promise<Result> {
  return withDatabase(async ({ settings, migrationDatabaseUrl }, interruption) => {
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
          checkInterrupted: interruption.check,
        }),
      );
    } finally {
      // Closing waits for connections in use, and interrupted work may never give its own back.
      await Promise.race([context.close(), delay(3_000)]);
    }
  });
}

/** Throws when there is none. */
export async function workspaceOf(operator: Operator, slug: string): Promise<Workspace> {
  const workspace = await operator.workspaces.findBySlug(slug);
  if (workspace === null) throw new CommandFailed(`There is no workspace "${slug}".`);
  return workspace;
}

async function createContext(settings: Settings, databaseUrl: string): Promise<INestApplicationContext> {
  try {
    return await NestFactory.createApplicationContext(OperatorModule.forRoot(settings, databaseUrl), {
      logger: logger(settings.logLevel),
      abortOnError: false,
    });
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (path !== settings.secretPepperFile) throw error;
    throw new CommandFailed(
      code === 'ENOENT'
        ? `SECRET_PEPPER_FILE names ${path}, which does not exist; run: admin keys init`
        : `SECRET_PEPPER_FILE names ${path}, which cannot be read (${code ?? 'unknown'}).`,
    );
  }
}

/** Nest's own log is of use only to someone who looks for a fault; it goes to stderr, as stdout is the command's. */
function logger(level: string): ProcessLogger | false {
  if (level !== 'debug' && level !== 'trace') return false;
  return new ProcessLogger(pino({ level, base: undefined, messageKey: 'message' }, destination(2)));
}

@Global()
@Module({})
class OperatorModule {
  static forRoot(settings: Settings, databaseUrl: string): DynamicModule {
    return {
      module: OperatorModule,
      imports: [
        DatabaseModule.forRoot({ url: databaseUrl, poolSize: POOL_SIZE, patience: 'operator' }),
        AuthOperatorModule,
        InventoryOperatorModule,
      ],
      providers: [{ provide: Settings, useValue: settings }],
      exports: [Settings],
    };
  }
}
