import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import { InputFaults, type Place, ValidationFailed, assetId, isUuid } from '#libs/kernel';
import type { ValidationError } from 'class-validator';
import { isForm } from './dto-kinds.decorator';
import { addMemberFaults } from './faults';
import { type Dto, knownTo } from './known-members';
import { readTexts } from './texts';

/** The query of a route without parameters. Any parameter is refused by name. */
export class NoQueryDto {}

/** No array and no object of a body has more entries. More would keep class-validator busy. */
const MOST_ENTRIES = 100;

/**
 * Reads a query, form, body or path parameter as its DTO. Refuses every member that the DTO does not declare, and tells
 * all faults at once (decisions, sections 5 and 7). A path parameter without a DTO is a UUID.
 * @throws `validation_failed`
 */
@Injectable()
export class InputPipe extends ValidationPipe {
  constructor() {
    super({
      ...{ transform: true, whitelist: true, forbidNonWhitelisted: true, stopAtFirstError: true },
      validationError: { target: true, value: true },
      exceptionFactory: failure,
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, data, metatype } = metadata;
    if (type === 'param' && data !== undefined) return uuidParameter(value, data);
    if (!metatype || !this.toValidate(metadata)) return value;
    if (type !== 'body' || isForm(metatype)) return readTexts(metatype as Dto, value as object);
    refuseUnreadable(value, knownTo(metatype as Dto));
    return super.transform(value, metadata);
  }
}

function failure(errors: readonly ValidationError[]): Error {
  const faults = new InputFaults();
  addMemberFaults(errors, faults);
  return new ValidationFailed(faults.all);
}

function uuidParameter(value: unknown, parameter: string): string {
  if (typeof value === 'string' && isUuid(value)) return assetId(value);
  throw new ValidationFailed([{ parameter, code: 'format', detail: `${parameter} must be a UUID.` }]);
}

/**
 * Refuses a body that class-transformer would not read as it was sent, because it drops members such as `constructor`,
 * and one that would keep class-validator busy.
 */
function refuseUnreadable(body: unknown, known: ReadonlySet<string>): void {
  const faults = new InputFaults();
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    faults.addMember([], 'format', 'must be an object.');
  } else if (Object.keys(body).length > MOST_ENTRIES) {
    for (const name of Object.keys(body)) if (!known.has(name)) addUnknown([name], faults);
  } else findUnreadable(body, [], faults);
  faults.throwAny();
}

function findUnreadable(value: unknown, place: Place, faults: InputFaults): void {
  if (typeof value !== 'object' || value === null || faults.isFull) return;
  const entries = Object.entries(value);
  if (entries.length > MOST_ENTRIES) {
    faults.addMember(place, 'length', `must have at most ${MOST_ENTRIES} entries.`);
    return;
  }
  for (const [name, inner] of entries) {
    if (name in Object.prototype) addUnknown([...place, name], faults);
    else findUnreadable(inner, [...place, name], faults);
  }
}

const addUnknown = (place: Place, faults: InputFaults): void =>
  faults.addMember(place, 'unknown', 'is not a member of this request.');
