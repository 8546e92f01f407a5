export { type Feature } from './feature';
export { PlatformModule, listServices } from './platform.module';
