import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database, type Statement } from '#libs/platform';
import type { Application, ApplicationSecrets } from '../domain/application';
import { ApplicationRepository, type NewApplication } from '../domain/application-repository.port';
import { APPLICATION_COLUMNS, SECRET_COLUMNS, toApplication, toSecrets } from './application-columns';

const CREATE: Statement = {
  name: 'application_create',
  text: `INSERT INTO application (workspace_id, client_id, name, secret_digest, scopes)
         VALUES ($1, $2, $3, decode($4, 'hex'), ARRAY(SELECT json_array_elements_text($5::json)))
         RETURNING ${APPLICATION_COLUMNS}`,
};
const LIST: Statement = {
  name: 'application_list',
  text: `SELECT ${APPLICATION_COLUMNS} FROM application WHERE workspace_id = $1 ORDER BY created_at, id`,
};
const FIND: Statement = {
  name: 'application_find',
  text: `SELECT ${APPLICATION_COLUMNS} FROM application WHERE client_id = $1`,
};
const FIND_WITH_SECRETS: Statement = {
  name: 'application_find_with_secrets',
  text: `SELECT ${APPLICATION_COLUMNS}, ${SECRET_COLUMNS} FROM application WHERE client_id = $1`,
};
const SET_DISABLED: Statement = {
  name: 'application_set_disabled',
  text: `UPDATE application SET disabled = $2 WHERE client_id = $1 RETURNING ${APPLICATION_COLUMNS}`,
};
/** The clock in microseconds keeps generations rising even when the row comes back from an older backup. */
const BEGIN_GENERATION = `
  UPDATE application
     SET generation = GREATEST(generation + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
         jti = $3, issued_at = now()
   WHERE workspace_id = $1 AND id = $2 AND NOT disabled
  RETURNING generation`;

@Injectable()
export class ApplicationRepositoryTypeorm extends ApplicationRepository {
  constructor(private readonly database: Database) {
    super();
  }

  async create(workspaceId: WorkspaceId, application: NewApplication): Promise<Application> {
    const { clientId, name, secretDigest, scopes } = application;
    const values = [workspaceId, clientId, name, secretDigest.toString('hex'), JSON.stringify(scopes)];
    const [rows] = await this.database.run({ workspaceId }, [{ ...CREATE, values }]);
    return toApplication(rows?.[0] ?? []);
  }

  async list(workspaceId: WorkspaceId): Promise<Application[]> {
    const [rows] = await this.database.run({ workspaceId }, [{ ...LIST, values: [workspaceId] }]);
    return (rows ?? []).map(toApplication);
  }

  async findByClientId(clientId: string): Promise<Application | null> {
    const [rows] = await this.database.run({ clientId }, [{ ...FIND, values: [clientId] }]);
    return rows?.[0] ? toApplication(rows[0]) : null;
  }

  async findWithSecrets(
    clientId: string,
  ): Promise<{ readonly application: Application; readonly secrets: ApplicationSecrets } | null> {
    const [rows] = await this.database.run({ clientId }, [{ ...FIND_WITH_SECRETS, values: [clientId] }]);
    const row = rows?.[0];
    if (!row) return null;
    const application = toApplication(row);
    return { application, secrets: toSecrets(row, application) };
  }

  async setDisabled(clientId: string, disabled: boolean): Promise<Application | null> {
    const [rows] = await this.database.run({ clientId }, [{ ...SET_DISABLED, values: [clientId, String(disabled)] }]);
    return rows?.[0] ? toApplication(rows[0]) : null;
  }

  async beginGeneration(
    application: Application,
    tokenId: string,
    sign: (generation: bigint) => Promise<string>,
  ): Promise<string | null> {
    const { workspaceId, id } = application;
    return this.database.transaction({ workspaceId }, async (manager) => {
      const [updated] = (await manager.query(BEGIN_GENERATION, [workspaceId, id, tokenId])) as [
        { generation: string }[],
        number,
      ];
      return updated[0] ? sign(BigInt(updated[0].generation)) : null;
    });
  }
}
