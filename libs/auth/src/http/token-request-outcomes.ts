import { Tally } from '#libs/platform/observability';

/** Outcomes of token requests: a token, or one of the endpoint's problems. */
export const TOKEN_REQUEST_OUTCOMES = [
  ...['issued', 'invalid_client', 'rate_limited', 'invalid_request', 'invalid_scope'],
  ...['unsupported_grant_type', 'unsupported_audience', 'unsupported_media_type', 'payload_too_large'],
  ...['validation_failed', 'internal_error', 'service_unavailable'],
];

export class TokenRequestOutcomes extends Tally<string> {
  constructor() {
    super(TOKEN_REQUEST_OUTCOMES);
  }
}
