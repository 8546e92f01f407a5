import { Injectable } from '@nestjs/common';
import { RepeatedWork } from '#libs/platform/background';
import { Database, bind, prepared } from '#libs/platform/database';
import { Metrics } from '#libs/platform/observability';
import { IssuerKeys, KeySetUnavailable } from '../domain/trusted-issuer';

const PAUSE_MS = 20_000;
/** Issuers that are asked at once. */
const AT_ONCE = 8;
/** Bounds the number of series. */
const MOST_SERIES = 500;
const CLAIM = prepared(
  'trusted_issuers_claim',
  'SELECT issuer, insecure, of_operator, ids, claimed_at FROM claim_trusted_issuers($1::integer)',
);
const STORE_KEYS = prepared(
  'trusted_issuer_settle',
  `SELECT settle_trusted_issuer($1::uuid[], $2::timestamptz, nullif($3, '')::jsonb, nullif($4, ''))`,
);
/** Sets nearest to their alert (docker/prometheus/alerts.yml) come first, so fetched ones never hide a given one. */
const AGES = prepared(
  'trusted_keys_ages',
  `SELECT workspace, client_id, id, given, (extract(epoch FROM keys_at) * 1000)::bigint
     FROM ages_of_trusted_keys(NULL)
    ORDER BY keys_at + CASE WHEN given THEN interval '90 days' ELSE interval '1 day' END LIMIT $1::integer`,
);

interface Age {
  readonly labels: Readonly<Record<'workspace' | 'client_id' | 'trust' | 'kind', string>>;
  readonly since: number;
}

/**
 * Fetches the key sets of trusted issuers, every ten minutes and from one instance at a time, so that no request waits for
 * an issuer. Remembers the ages of all sets for the metrics.
 */
@Injectable()
export class TrustedKeyWatch extends RepeatedWork {
  private ages: readonly Age[] = [];

  constructor(
    private readonly database: Database,
    private readonly issuers: IssuerKeys,
    metrics: Metrics,
  ) {
    super(PAUSE_MS, 'key sets of trusted issuers were not looked at');
    metrics.gauges(
      {
        name: 'compliance_trusted_keys_age_seconds',
        help: 'Age of the key set of a trusted issuer since its last good fetch, or since it was given.',
        labels: ['workspace', 'client_id', 'trust', 'kind'],
      },
      () => this.ages.map(({ labels, since }) => ({ labels, value: Math.max(0, (Date.now() - since) / 1_000) })),
    );
  }

  /** Fetches what is due, and looks at the ages. */
  async look(): Promise<void> {
    while (!this.stopping && (await this.fetchNext()) > 0);
    const [rows = []] = await this.database.run({ outsideTenants: true }, [bind(AGES, [String(MOST_SERIES)])]);
    this.ages = rows.map(([workspace, clientId, trust, given, since]) => ({
      labels: {
        workspace: String(workspace),
        client_id: String(clientId),
        trust: String(trust),
        kind: given === 't' ? 'given' : 'fetched',
      },
      since: Number(since),
    }));
  }

  protected async round(): Promise<void> {
    await this.look();
  }

  /** Returns how many issuers were asked. */
  private async fetchNext(): Promise<number> {
    const [rows = []] = await this.database.run({ outsideTenants: true }, [bind(CLAIM, [String(AT_ONCE)])]);
    await Promise.all(
      rows.map(async ([issuer = '', insecure, ofOperator, ids = '', claimedAt = '']) => {
        const source = { issuer: String(issuer), insecure: insecure === 't', ofOperator: ofOperator === 't' };
        const [keys, reason] = await this.issuers.fetch(source).then(
          (fetched) => [JSON.stringify(fetched), ''],
          (error: Error) => ['', this.reasonOf(error, source.issuer)],
        );
        const stored = bind(STORE_KEYS, [String(ids), String(claimedAt), keys as string, reason as string]);
        await this.database.run({ outsideTenants: true }, [stored]);
      }),
    );
    return rows.length;
  }

  private reasonOf(error: Error, issuer: string): string {
    if (!(error instanceof KeySetUnavailable)) throw error;
    this.logger.warn({ message: 'the key set of a trusted issuer was not fetched', issuer, reason: error.message });
    return error.message;
  }
}
