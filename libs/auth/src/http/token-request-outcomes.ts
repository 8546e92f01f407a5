import { Tally } from '#libs/platform/observability';
import { TOKEN_PROBLEMS } from './token-problem';

/** Outcomes of token requests: a token, or one of the endpoint's problems. */
export class TokenRequestOutcomes extends Tally<string> {
  constructor() {
    super(['issued', ...TOKEN_PROBLEMS]);
  }
}
