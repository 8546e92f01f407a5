export { type Feature } from './feature';
export { PlatformModule } from './platform.module';
