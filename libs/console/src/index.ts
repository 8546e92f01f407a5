export { ConsoleModule } from './console.module';
export { serveFiles } from './http/files';
