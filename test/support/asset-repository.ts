import { randomBytes } from 'node:crypto';
import { Clock } from '#libs/kernel';
import { ChangeFeed, History } from '#libs/platform/changes';
import { type Database } from '#libs/platform/database';
import { AuditEvidenceSystem } from '../../libs/audit/src/system/audit-evidence.system';
import { AssetRepositoryTypeorm } from '../../libs/inventory/src/assets/typeorm/asset-repository.typeorm';
import { AuditRecorder } from '../../libs/audit/src/typeorm/audit-recorder';

/** The adapter, composed as in the API, on the test's own database. */
export function assetRepositoryOn(database: Database): AssetRepositoryTypeorm {
  const recorder = new AuditRecorder(new AuditEvidenceSystem(randomBytes(32)), new Clock());
  return new AssetRepositoryTypeorm(database, recorder, new ChangeFeed(database), new History(database));
}
