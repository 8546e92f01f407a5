export { computersSchema } from './typeorm/schema';
