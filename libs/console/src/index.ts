export { ConsoleModule } from './console.module';
export { serveFiles } from './http/files';
export { type ImportEnd, type ImportNews, type ImportOrder } from './http/import-processes';
export { UploadFiles } from './system/upload-files.system';
