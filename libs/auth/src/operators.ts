export { AuthOperatorModule } from './auth-operator.module';
export { type Application } from './domain/application';
export { WORKSPACE_SLUG, type Workspace } from './domain/workspace';
export { Applications } from './typeorm/applications';
export { Workspaces } from './typeorm/workspaces';
