import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { loadSettings } from '#libs/platform/config';
import { createApiDocument } from '../../apps/api/src/api-document';
import { AppModule } from '../../apps/api/src/app.module';
import type { Contract } from './contract-document';

/** Generates the contract with the default base URL. Creates no provider and contacts no service. */
export async function generateContract(): Promise<Contract> {
  const settings = loadSettings({ NODE_ENV: 'test', DATABASE_URL: 'postgres://nobody@127.0.0.1/none' });
  const app = await NestFactory.create<NestExpressApplication>(await AppModule.forRoot(settings), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  return JSON.parse(JSON.stringify(createApiDocument(app, settings))) as Contract;
}

/** Formats with two spaces and a final line feed. */
export const contractText = (contract: Contract): string => `${JSON.stringify(contract, null, 2)}\n`;
