import { setTimeout as delay } from 'node:timers/promises';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Tally } from '../observability/tally';
import { Circuit, type CircuitWatcher, RedisAway, RedisSilent } from './circuit';
import { ClusterConnection } from './cluster-connection';
import { GuardedClient } from './guarded-client';
import { NodeConnection } from './node-connection';
import { parseRedisUrl } from './redis-address';
import type { RedisClient } from './redis-client';
import { type RedisConnection, THE_NODE, takesWrite } from './redis-connection';
import { reasonOf } from './redis-fault';

/** How long the start of the process waits for Redis. */
const FIRST_CONNECTION_MS = 2_000;
/** The same complaint of Redis about commands is logged this often. */
const COMPLAINT_EVERY_MS = 60_000;

/** `away`: of a cluster, at least one node. */
export type RedisState = 'not configured' | 'ok' | 'away';

/**
 * Redis as something that may be away at any time, or not be there at all. What is kept there is only ever a help: whoever
 * asks knows what to do without it. See {@link Circuit} for what its absence costs.
 */
export class RedisServer implements OnModuleInit, OnApplicationShutdown {
  /** How often a node was found to be away, and back. */
  readonly transitions = new Tally(['opened', 'closed']);
  private readonly logger = new Logger('Redis');
  private readonly connection: RedisConnection | null;
  private readonly client: RedisClient | null;
  private readonly circuits = new Map<string, Circuit>();
  /** By the node, the key that it was asked for last. */
  private readonly lastKeys = new Map<string, string>();
  private readonly listeners: (() => void)[] = [];
  private readonly complaints = new Map<string, number>();

  /** Null: there is none. Throws `RedisUrlInvalid`. */
  constructor(url: string | null) {
    this.connection = url === null ? null : this.connectionTo(url);
    this.client = this.connection && this.guarded(this.connection);
  }

  get isConfigured(): boolean {
    return this.connection !== null;
  }

  /** As the last commands found it. One that is away is found to be back within a second or two, also if nobody asks it. */
  get state(): RedisState {
    if (!this.connection) return 'not configured';
    return [...this.circuits.values()].some((circuit) => circuit.isOpen) ? 'away' : 'ok';
  }

  /** Waits for the first connection, two seconds at most; a Redis that is away does not keep the process from starting. */
  async onModuleInit(): Promise<void> {
    if (!this.connection) return;
    const patience = new AbortController();
    const late = delay(FIRST_CONNECTION_MS, undefined, { signal: patience.signal }).then(() => {
      throw new Error('Connection is closed.');
    });
    try {
      await Promise.race([this.connection.connect(), late]);
    } catch (error) {
      this.circuitAt(THE_NODE).open(error);
    } finally {
      late.catch(() => undefined);
      patience.abort();
    }
  }

  /**
   * The outcome of `work`, or `undefined` when Redis is away or refused a command. Never rejects. `hearLate` hears what
   * Redis answers to a command that `work` waited for in vain, should it do it yet.
   */
  async attempt<Result>(
    work: (redis: RedisClient) => Promise<Result>,
    hearLate?: (answer: unknown) => void,
  ): Promise<Result | undefined> {
    if (!this.client) return undefined;
    try {
      return await work(this.client);
    } catch (error) {
      // What comes too late fails for nobody.
      if (error instanceof RedisSilent && hearLate) error.answer.then(hearLate).catch(() => undefined);
      if (!(error instanceof RedisAway)) this.complain(error);
      return undefined;
    }
  }

  /**
   * For how many milliseconds the node that has this key has answered without a break, as far as is known; infinite, ever
   * since this process began. One that was away may be back with what it knew before.
   */
  unbrokenMs(key: string): number {
    if (!this.connection) return 0;
    const node = this.connection.nodeOf(key);
    return this.circuits.get(node)?.isOpen ? 0 : this.connection.continuity.of(node);
  }

  /** Has this called each time that Redis answers again, before anybody else asks it. */
  onReturn(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Whether every node takes a write. */
  async ping(): Promise<boolean> {
    const keys = this.connection?.keysOnEachNode('ping') ?? [];
    const asked = keys.map((key) => this.attempt((redis) => takesWrite(redis, key)));
    return (await Promise.all(asked)).every((answer) => answer !== undefined) && this.state === 'ok';
  }

  onApplicationShutdown(): void {
    for (const circuit of this.circuits.values()) circuit.end();
    this.connection?.disconnect();
  }

  private connectionTo(url: string): RedisConnection {
    const address = parseRedisUrl(url);
    if (address.kind !== 'cluster') return new NodeConnection(address);
    return new ClusterConnection(address, () => this.forgetFormerNodes());
  }

  private guarded(connection: RedisConnection): RedisClient {
    return new GuardedClient(connection.client, (key) => {
      const node = connection.nodeOf(key);
      this.lastKeys.set(node, key);
      return this.circuitAt(node);
    });
  }

  private circuitAt(node: string): Circuit {
    let circuit = this.circuits.get(node);
    if (!circuit) this.circuits.set(node, (circuit = new Circuit(this.watcherOf(node), () => this.probe(node))));
    return circuit;
  }

  private watcherOf(node: string): CircuitWatcher {
    const name = node === THE_NODE ? 'Redis' : 'A node of Redis';
    return {
      opened: (error) => {
        this.transitions.add('opened');
        const reason = reasonOf(error, this.connection?.fault);
        this.logger.warn(`${name} is away, and is done without: ${reason}`);
      },
      closed: () => {
        this.transitions.add('closed');
        this.logger.warn(`${name} answers again.`);
        this.connection?.continuity.beginAnew(node);
        for (const listener of this.listeners) listener();
      },
      unansweredAgain: () => this.connection?.giveUp(node),
    };
  }

  /** In the slot that was asked for last: what keeps one from being used may not keep others of the same node. */
  private async probe(node: string): Promise<void> {
    await this.connection?.probe(node, `${this.lastKeys.get(node) ?? '{ping}'}:ping`);
  }

  /** Others have their slots now. */
  private forgetFormerNodes(): void {
    for (const [node, circuit] of this.circuits) {
      if (this.connection?.isNode(node)) continue;
      this.circuits.delete(node);
      this.lastKeys.delete(node);
      circuit.close();
      circuit.end();
    }
  }

  /** What is wrong with a command and not with Redis. */
  private complain(error: unknown): void {
    const reason = reasonOf(error);
    const now = performance.now();
    if (now - (this.complaints.get(reason) ?? -Infinity) < COMPLAINT_EVERY_MS) return;
    this.complaints.set(reason, now);
    this.logger.error(`A command to Redis failed, and was done without: ${reason}`);
  }
}
