export { RedisClient } from './redis-client';
export { type RedisCommands, RedisScript } from './redis-commands';
