import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Database } from '#libs/platform/database';
import { type EndedStream, Streams } from '#libs/platform/streams';
import { AuditRecorder } from './audit-recorder';

/**
 * Records each stream when it has ended, complete or cut. A stream that no event can be recorded of is in the log; one of a
 * killed instance is not recorded.
 */
@Injectable()
export class StreamRecorder implements BeforeApplicationShutdown {
  private readonly logger = new Logger('StreamRecorder');
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    streams: Streams,
    private readonly database: Database,
    private readonly audit: AuditRecorder,
  ) {
    streams.onEnd((ended) => {
      const recorded = this.record(ended).finally(() => this.underWay.delete(recorded));
      this.underWay.add(recorded);
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private async record({ caller, requestId, resource, rows }: EndedStream): Promise<void> {
    const { workspaceId, applicationId, clientId } = caller;
    const actor = { type: 'APPLICATION', applicationId, clientId } as const;
    try {
      await this.database.inTenant({ workspaceId }, (manager) =>
        this.audit.recordExport(manager, workspaceId, { resource, rows, requestId }, actor),
      );
    } catch (error) {
      this.logger.error({ message: 'stream not recorded in the audit', workspaceId, requestId, resource, rows, error });
    }
  }
}
