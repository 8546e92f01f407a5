import { Redis } from 'ioredis';

/** About sixteen commands. With more, Redis should start working. */
const ENOUGH_BYTES = 4_096;

/**
 * Makes a node send all commands of one turn of the event loop in one write. Under load a system call for each command
 * costs more than the command. A single command waits no longer for that.
 */
export function gatherCommands(node: Redis): void {
  node.sendCommand = (...command) => {
    // Undefined before the first connection.
    const connection = node.stream as Redis['stream'] | undefined;
    if (connection) gather(connection);
    return Redis.prototype.sendCommand.apply(node, command);
  };
}

function gather(connection: Redis['stream']): void {
  if (connection.writableCorked === 0) {
    connection.cork();
    setImmediate(() => connection.uncork());
  } else if (connection.writableLength >= ENOUGH_BYTES) {
    connection.uncork();
    connection.cork();
  }
}
