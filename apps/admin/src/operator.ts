import 'reflect-metadata';
import {
  type Abstract,
  type DynamicModule,
  Global,
  type INestApplicationContext,
  Module,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Workspace } from '#libs/auth/operators';
import { DatabaseModule } from '#libs/platform/database';
import type { ProcessLogger } from '#libs/platform/observability';
import { Settings } from '#libs/platform/config';
import { makeMissingKeys } from '#libs/platform/keys';
import { setTimeout as delay } from 'node:timers/promises';
import { secretFiles } from '../../features';
import { entities } from '../../whole-schema';
import { CommandFailed } from './command-faults';
import type { Interruption } from './interruption';
import { type OperatorDatabase, withDatabase } from './operator-database';

/** A command does one thing at a time, except that an import merges while it reads. */
const POOL_SIZE = 4;

/** `portion` is between 0 and 1, or null when the total is unknown. */
type Show = (count: number, portion: number | null, details?: string) => void;

/** Gives a command the services of the modules that it named. */
export class Operator {
  constructor(
    private readonly context: INestApplicationContext,
    private readonly interruption: Interruption,
  ) {}

  get<Service>(service: Abstract<Service>): Service {
    return this.context.get(service);
  }

  /** Long work calls it between steps. @throws once the command was interrupted */
  checkInterrupted(): void {
    this.interruption.check();
  }

  /** Runs long work, which shows its progress after each step. An interrupted command ends at the next step. */
  async withProgress<Result>(unit: string, work: (show: Show) => Promise<Result>): Promise<Result> {
    const { createProgress } = await import('./progress.js');
    const progress = createProgress(unit);
    try {
      return await work((count, portion, details) => {
        progress.show(count, portion, details);
        this.checkInterrupted();
      });
    } finally {
      progress.end();
    }
  }
}

/** Runs `work` with the services of these modules. */
export async function operate<Result>(
  modules: readonly Type[],
  work: (operator: Operator) => Promise<Result>,
): Promise<Result> {
  return withDatabase((database, interruption) => operateOn(database, interruption, modules, work));
}

/** Runs `work` on a workspace. @throws when there is none with this slug */
export async function operateIn<Result>(
  slug: string,
  modules: readonly Type[],
  work: (operator: Operator, workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const { AuthOperatorModule } = await import('#libs/auth/operators');
  return operate([AuthOperatorModule, ...modules], async (operator) =>
    work(operator, await workspaceOf(operator, slug)),
  );
}

/** @throws when there is none */
export async function workspaceOf(operator: Operator, slug: string): Promise<Workspace> {
  const { Workspaces } = await import('#libs/auth/operators');
  const workspace = await operator.get(Workspaces).findBySlug(slug);
  if (workspace === null) throw new CommandFailed(`There is no workspace "${slug}". Run "workspaces list" to see all.`);
  return workspace;
}

/** Runs `work` with the services of these modules on an open database. */
export async function operateOn<Result>(
  { settings, migrationDatabaseUrl }: OperatorDatabase,
  interruption: Interruption,
  modules: readonly Type[],
  work: (operator: Operator) => Promise<Result>,
): Promise<Result> {
  if (!settings.production) await makeMissingKeys(settings, secretFiles);
  const context = await NestFactory.createApplicationContext(
    OperatorModule.forRoot(settings, migrationDatabaseUrl, modules),
    { logger: await logger(settings.logLevel), abortOnError: false },
  );
  try {
    return await interruption.outcomeOf(work(new Operator(context, interruption)));
  } finally {
    // Closing waits for connections in use, which interrupted work may never release.
    await Promise.race([context.close(), delay(3_000, undefined, { ref: false })]);
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
  static forRoot(settings: Settings, databaseUrl: string, modules: readonly Type[]): DynamicModule {
    return {
      module: OperatorModule,
      imports: [
        DatabaseModule.forRoot({ url: databaseUrl, poolSize: POOL_SIZE, patience: 'operator', entities }),
        ...modules,
      ],
      providers: [{ provide: Settings, useValue: settings }],
      exports: [Settings],
    };
  }
}
