export { ConsoleModule } from './console.module';
export { serveFiles } from './http/files';
export { UploadFiles } from './system/upload-files.system';
