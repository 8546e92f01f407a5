export { RedisClient } from './redis-client';
export { type RedisCommands } from './redis-commands';
export { RedisScript } from './redis-script';
