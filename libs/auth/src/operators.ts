export { ApplicationsService } from './application/applications.service';
export { AuthOperatorModule } from './auth-operator.module';
export { type Application } from './domain/application';
export { WORKSPACE_SLUG, type Workspace } from './domain/workspace';
export { Workspaces } from './typeorm/workspaces';
