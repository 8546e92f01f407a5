import { setTimeout as delay } from 'node:timers/promises';
import { type DynamicModule, Global, type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Applications, AuthOperatorModule, type Workspace, Workspaces } from '#libs/auth/operators';
import { ConsoleOperatorModule, NoSuchPerson, People, PersonThere } from '#libs/console/operators';
import {
  DemoHistory,
  DemoService,
  ImportAlreadyRunning,
  InventoryOperatorModule,
  OtherInventory,
} from '#libs/inventory/operators';
import { DatabaseModule, migrate } from '#libs/platform/database';
import { Settings } from '#libs/platform/config';
import type { KeptCredentials } from './credentials-file';
import { demoCredentials } from './demo-access';
import { entities, schema } from '../../whole-schema';

export interface DemoPlace {
  readonly settings: Settings;
  readonly databaseUrl: string;
  readonly migrationDatabaseUrl: string;
  readonly consoleDatabaseUrl: string | null;
  readonly say: (line: string) => void;
  /** @throws when the run is stopping */
  readonly checkStopped: () => void;
}

export interface Demo {
  readonly credentials: KeptCredentials;
  /** Token of a link that signs the demo's administrator in. Null when there is none any more. */
  readonly linkToken: string | null;
}

/** Updates the schema, fills the demo workspace unless that was done, and returns what opens it. */
export async function prepareDemo(place: DemoPlace): Promise<Demo> {
  await migrate({ ...place, schema });
  const context = await NestFactory.createApplicationContext(DemoModule.forRoot(place), {
    logger: false,
    abortOnError: false,
  });
  try {
    const applications = context.get(Applications);
    const workspace = await demoWorkspace(context, place);
    const credentials = await demoCredentials(applications, workspace, place.settings);
    return { credentials, linkToken: await administratorsLink(context.get(People), workspace) };
  } finally {
    await context.close();
  }
}

async function administratorsLink(people: People, { id }: Workspace): Promise<string | null> {
  try {
    if ((await people.list(id)).length === 0) {
      await people.add(id, { email: 'admin@demo.example', name: 'Demo administrator', role: 'admin' });
    }
    return (await people.makeLink(id, null)).token;
  } catch (error) {
    // Another start was first, or somebody removed all administrators.
    if (error instanceof NoSuchPerson || error instanceof PersonThere) return null;
    throw error;
  }
}

/** The past comes last, so a demo without it was not loaded to its end. Another inventory there stays as it is. */
async function demoWorkspace(context: INestApplicationContext, place: DemoPlace): Promise<Workspace> {
  const workspaces = context.get(Workspaces);
  const history = context.get(DemoHistory);
  const isUnfinished = async ({ id }: Workspace): Promise<boolean> =>
    (await history.isMissing(id)) && !(await context.get(OtherInventory).exists(id));
  const found = await workspaces.findBySlug('demo');
  if (found !== null && !(await isUnfinished(found))) return found;
  place.say('Loading the demo data…');
  // Null when another process created it first.
  await workspaces.create('demo', 'Demo');
  const workspace = await workspaces.findBySlug('demo');
  if (workspace === null) throw new Error('The demo workspace went away while it was filled.');
  await loadInTurn(context.get(DemoService), workspace, place);
  await history.make(workspace.id);
  return workspace;
}

/** Concurrent starts would both load. Take turns; loading existing data changes nothing. */
async function loadInTurn(demo: DemoService, workspace: Workspace, place: DemoPlace): Promise<void> {
  for (;;) {
    try {
      await demo.load(workspace.id, 'S', place.checkStopped);
      return;
    } catch (error) {
      if (!(error instanceof ImportAlreadyRunning)) throw error;
      await delay(250);
      place.checkStopped();
    }
  }
}

@Global()
@Module({})
class DemoModule {
  static forRoot({ settings, migrationDatabaseUrl }: DemoPlace): DynamicModule {
    return {
      module: DemoModule,
      imports: [
        DatabaseModule.forRoot({ url: migrationDatabaseUrl, poolSize: 4, patience: 'operator', entities }),
        AuthOperatorModule,
        InventoryOperatorModule,
        ConsoleOperatorModule,
      ],
      providers: [{ provide: Settings, useValue: { ...settings, operatorName: settings.operatorName ?? 'npm start' } }],
      exports: [Settings],
    };
  }
}
