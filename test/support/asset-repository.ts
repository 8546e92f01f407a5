import { randomBytes } from 'node:crypto';
import { type Database, SystemClock } from '#libs/platform';
import { AuditEvidenceSystem } from '../../libs/inventory/src/system/audit-evidence.system';
import { AssetRepositoryTypeorm } from '../../libs/inventory/src/typeorm/asset-repository.typeorm';
import { AuditRecorder } from '../../libs/inventory/src/typeorm/audit-recorder';

/** The adapter as the API wires it, on a database of the test's own. */
export function assetRepositoryOn(database: Database): AssetRepositoryTypeorm {
  const recorder = new AuditRecorder(new AuditEvidenceSystem(randomBytes(32)), new SystemClock());
  return new AssetRepositoryTypeorm(database, recorder);
}
