import { type Member, check, fromText, member } from './member';

interface PageSizeOptions extends Member {
  readonly maximum: number;
  readonly default: number;
}

/** The size of a page: a whole number from 1 to `maximum`, without sign or leading zero (decisions, section 5). */
export const PageSize = ({ maximum, ...options }: PageSizeOptions): PropertyDecorator =>
  member(
    { type: 'integer', minimum: 1, maximum, ...options },
    fromText((text) => (/^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : text)),
    check({
      code: 'format',
      isValid: (value) => typeof value === 'number' && value <= maximum,
      message: `must be a whole number from 1 to ${maximum}`,
    }),
  );
