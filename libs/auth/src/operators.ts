export { AuthOperatorModule } from './auth-operator.module';
export { type Application } from './domain/application';
export { WORKSPACE_SLUG, type Workspace } from './domain/workspace';
export { Applications } from './typeorm/applications';
export { ClientKeys, type ListedKey } from './typeorm/client-keys';
export { readClientKeys } from './jwt/client-keys';
export { Workspaces } from './typeorm/workspaces';
