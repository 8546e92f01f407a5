import { ImportsService } from '#libs/inventory/operators';
import type { DataSource } from 'typeorm';
import { ImportFilesSystem } from '../../libs/inventory/src/imports/system/import-files.system';
import { ImportStoreTypeorm } from '../../libs/inventory/src/imports/typeorm/import-store.typeorm';
import { anAuditRecorder } from './audit-recorder';

/** Imports by operators, composed as in the command line. */
export const importsOn = (dataSource: DataSource): ImportsService =>
  new ImportsService(new ImportStoreTypeorm(dataSource, anAuditRecorder()), new ImportFilesSystem());
