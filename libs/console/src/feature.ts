export { consoleSchema } from './typeorm/schema';
