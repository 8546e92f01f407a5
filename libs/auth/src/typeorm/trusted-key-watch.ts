import { Injectable } from '@nestjs/common';
import { RepeatedWork } from '#libs/platform/background';
import { Database, bind, prepared } from '#libs/platform/database';
import { Metrics } from '#libs/platform/observability';
import { IssuerKeys, KeySetUnavailable, type TrustedIssuer } from '../domain/trusted-issuer';
import { text } from './grant-columns';

const PAUSE_MS = 20_000;
/** Slow issuers never keep the ages old, nor let the work seem to fail (docker/prometheus/alerts.yml). */
const LONGEST_ROUND_MS = 300_000;
/** Issuers that are asked at once. */
const AT_ONCE = 8;
/** Bounds the number of series. */
const MOST_SERIES = 500;
const CLAIM = prepared(
  'trusted_issuers_claim',
  `SELECT json_build_object('issuer', issuer, 'insecure', insecure, 'ofOperator', of_operator), ids, claimed_at
     FROM claim_trusted_issuers($1::integer)`,
);
const STORE_KEYS = prepared(
  'trusted_issuer_settle',
  `SELECT settle_trusted_issuer($1::uuid[], $2::timestamptz, nullif($3, '')::jsonb, nullif($4, ''))`,
);
const AGES = prepared(
  'trusted_keys_ages',
  `SELECT json_build_object('workspace', workspace, 'client_id', client_id, 'trust', id,
                            'kind', CASE WHEN given THEN 'given' ELSE 'fetched' END),
          (extract(epoch FROM keys_at) * 1000)::bigint
     FROM ages_of_trusted_keys($1::integer)`,
);

/**
 * Fetches the key sets of trusted issuers, every ten minutes and from one instance at a time, so that no request waits for
 * an issuer. Remembers the ages of all sets for the metrics.
 */
@Injectable()
export class TrustedKeyWatch extends RepeatedWork {
  private ages: readonly { readonly labels: Readonly<Record<string, string>>; readonly since: number }[] = [];

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
  async round(): Promise<void> {
    const end = performance.now() + LONGEST_ROUND_MS;
    while (!this.stopping && performance.now() < end && (await this.fetchNext()) > 0);
    const [rows = []] = await this.database.run({ outsideTenants: true }, [bind(AGES, [String(MOST_SERIES)])]);
    this.ages = rows.map(([labels, since]) => ({
      labels: JSON.parse(text(labels)) as Record<string, string>,
      since: Number(since),
    }));
  }

  /** Does not wait for a round: slow issuers must not hold up the end. An instance asks again when the claim has run out. */
  override async beforeApplicationShutdown(): Promise<void> {
    void super.beforeApplicationShutdown();
  }

  /** Returns how many issuers were asked. */
  private async fetchNext(): Promise<number> {
    const [rows = []] = await this.database.run({ outsideTenants: true }, [bind(CLAIM, [String(AT_ONCE)])]);
    await Promise.all(
      rows.map(async ([source, ids, claimedAt]) => {
        const issuer = JSON.parse(text(source)) as TrustedIssuer;
        const fetched = await this.issuers.fetch(issuer).then(
          (keys) => [JSON.stringify(keys), ''],
          (error: Error) => ['', this.reasonOf(error, issuer)],
        );
        const store = bind(STORE_KEYS, [text(ids), text(claimedAt), ...fetched]);
        await this.database.run({ outsideTenants: true }, [store]);
      }),
    );
    return rows.length;
  }

  private reasonOf(error: Error, { issuer }: TrustedIssuer): string {
    if (!(error instanceof KeySetUnavailable)) throw error;
    this.logger.warn({ message: 'the key set of a trusted issuer was not fetched', issuer, reason: error.message });
    return error.message;
  }
}
