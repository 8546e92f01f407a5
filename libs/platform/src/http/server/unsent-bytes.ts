import { DomainError } from '#libs/kernel';
import type { Response } from 'express';

/** Bytes of responses that one instance holds for its clients. */
const MOST_BYTES = 80_000_000;
/** The operating system takes a shorter response at once. */
const LEAST_BYTES = 16_384;
/** Time for a response of no length. */
const PATIENCE_MS = 30_000;
/** A client reads at least as many bytes in a millisecond. */
const SLOWEST_READER = 50;

/** Counts the bytes of responses until their clients have read them. */
export class UnsentBytes {
  private total = 0;
  private readonly ofClients = new Map<string, number>();
  private readonly counted = new WeakSet<Response>();

  /**
   * Counts a whole body like {@link hold}. Closes the connection when its client reads too slowly: clients that read a byte
   * now and then would hold all bytes for good.
   */
  holdWhole(response: Response, bytes: number, client?: string): void {
    if (!this.hold(response, bytes, client)) return;
    const timer = setTimeout(() => response.destroy(), PATIENCE_MS + bytes / SLOWEST_READER);
    response.once('close', () => clearTimeout(timer));
  }

  /**
   * Counts a response until it is sent or its connection is lost. An application or person may hold as much as is left
   * for all others, so a few that do not read leave room for the next one. Returns whether it counts.
   * The response of an update counts before COMMIT. It counts once, however often it is made or sent.
   * @throws `service_unavailable`
   */
  hold(response: Response, bytes: number, client = response.req.context.caller?.clientId): boolean {
    const isHead = response.req.method === 'HEAD';
    // A response that is closed sends nothing, and closes no second time.
    if (client === undefined || isHead || bytes < LEAST_BYTES || response.closed) return false;
    if (this.counted.has(response)) return true;
    if (this.heldBy(client) + bytes > MOST_BYTES - this.total) {
      for (const header of ['Content-Encoding', 'ETag', 'Idempotent-Replayed', 'Link']) response.removeHeader(header);
      throw new DomainError('service_unavailable', 'Earlier responses wait to be read. Send fewer requests at a time.');
    }
    this.counted.add(response);
    this.add(client, bytes);
    response.once('close', () => this.add(client, -bytes));
    return true;
  }

  private heldBy(client: string): number {
    return this.ofClients.get(client) ?? 0;
  }

  private add(client: string, bytes: number): void {
    this.total += bytes;
    const held = this.heldBy(client) + bytes;
    if (held === 0) this.ofClients.delete(client);
    else this.ofClients.set(client, held);
  }
}
