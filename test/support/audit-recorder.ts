import { existsSync, readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { Clock } from '#libs/kernel';
import { loadSettings } from '#libs/platform/config';
import { AuditEvidenceSystem } from '../../libs/audit/src/system/audit-evidence.system';
import { AuditRecorder } from '../../libs/audit/src/typeorm/audit-recorder';

/** Records under the audit key of the test run, so that instances seal the events; without one under a key of its own. */
export function anAuditRecorder(operatorName = 'ops'): AuditRecorder {
  const { auditKeyFile } = loadSettings({
    NODE_ENV: 'test',
    DATABASE_URL: 'postgres://none.invalid/none',
    LOCAL_DIR: process.env['TEST_LOCAL_DIR'],
  });
  const key = existsSync(auditKeyFile) ? readFileSync(auditKeyFile) : randomBytes(32);
  return new AuditRecorder(new AuditEvidenceSystem(key), new Clock(), operatorName);
}
