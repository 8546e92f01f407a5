import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import {
  type InputFault,
  InputFaults,
  type Place,
  ValidationFailed,
  assetId,
  isUuid,
  shown,
  stepsInto,
} from '#libs/kernel';
import { plainToInstance } from 'class-transformer';
import { type ValidationError, validateSync } from 'class-validator';
import { didYouMean } from './did-you-mean';
import { type Dto, isForm, knownTo } from './dto-metadata.decorator';
import { addMemberFaults, addParameterFaults } from './faults';
import { TEXTS } from './member';

/** No array and no object of a body has more entries. More would keep class-validator busy. */
const MOST_ENTRIES = 100;

/** The query of a route without parameters. Any parameter is refused by name. */
export class NoQueryDto {}

/**
 * Reads a query, form, body or path parameter as its DTO. Refuses every member that the DTO does not declare, and tells
 * all faults at once. A path parameter without a DTO is a UUID.
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
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
    return this.readBody(value, metadata);
  }

  private async readBody(sent: object, metadata: ArgumentMetadata): Promise<unknown> {
    const unreadable = new InputFaults();
    const faults = new InputFaults();
    const body = readableBody(sent, unreadable);
    const read: unknown = await super.transform(body, metadata).catch((error: unknown) => {
      if (!(error instanceof ValidationFailed)) throw error;
      for (const fault of error.faults) faults.add(fault);
    });
    for (const fault of unreadable.all) if (!faults.all.some((other) => isWithin(fault, other))) faults.add(fault);
    faults.throwAny();
    return read;
  }
}

/** Texts of a query or form by parameter. */
export type Texts = Readonly<Record<string, string>>;

/** Converts texts that were checked before. */
export const fromTexts = <Type extends object>(dto: Dto<Type>, texts: Texts): Type =>
  plainToInstance(dto, texts, { groups: [TEXTS], exposeUnsetFields: false });

/**
 * Reads the parameters of a query or form. Refuses a repeated one, and in a query an empty or unknown one.
 * @throws `validation_failed` with every invalid parameter
 */
function readTexts(dto: Dto, given: object): object {
  const faults = new InputFaults();
  const known = knownTo(dto);
  const texts: Record<string, string> = {};
  for (const [parameter, value] of Object.entries(given) as [string, unknown][]) {
    if (!known.has(parameter)) {
      if (isForm(dto)) continue;
      const detail = `${shown(parameter)} is not a parameter of this operation.${didYouMean(parameter, known)}`;
      faults.add({ parameter, code: 'unknown', detail });
    } else if (typeof value !== 'string') {
      faults.add({ parameter, code: 'duplicated', detail: `${parameter} is given more than once.` });
    } else if (value === '' && !isForm(dto)) {
      faults.add({ parameter, code: 'required', detail: `${parameter} must not be empty.` });
    } else texts[parameter] = value;
  }
  const read = fromTexts(dto, texts);
  const invalid = known.size > 0 ? validateSync(read, { stopAtFirstError: true }) : [];
  // A parameter that was refused above is missing here.
  addParameterFaults(
    invalid.filter(({ property }) => !(property in given) || property in texts),
    faults,
  );
  faults.throwAny();
  return read;
}

/** `ValidationPipe` and class-transformer drop such members in silence. */
const isDropped = (step: string | number): boolean => step in Object.prototype || step === 'prototype';

/**
 * Copies a value of a body without what would not be validated as it was sent, and adds a fault for each such place.
 * It keeps one surplus entry of an array or object that is too long, so that a check of its length fails too.
 */
function readableBody(value: unknown, faults: InputFaults, place: Place = []): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = stepsInto(value);
  if (entries.length > MOST_ENTRIES) faults.addMember(place, 'length', `must have at most ${MOST_ENTRIES} entries.`);
  const kept: [string | number, unknown][] = [];
  for (const [step, inner] of entries.slice(0, MOST_ENTRIES + 1)) {
    const within = [...place, step];
    if (isDropped(step)) faults.addMember(within, 'unknown', 'is not a member of this request.');
    // class-validator would look for objects in an array within an array. It refuses null where an object must be.
    else if (Array.isArray(value) && Array.isArray(inner)) kept.push([step, null]);
    else kept.push([step, readableBody(inner, faults, within)]);
  }
  return Array.isArray(value) ? kept.map(([, inner]) => inner) : Object.fromEntries(kept);
}

function failure(errors: readonly ValidationError[]): Error {
  const faults = new InputFaults();
  addMemberFaults(errors, faults);
  return new ValidationFailed(faults.all);
}

function notAnObject(): Error {
  const faults = new InputFaults();
  faults.addMember([], 'format', 'must be an object.');
  return new ValidationFailed(faults.all);
}

const isWithin = (inner: InputFault, outer: InputFault): boolean => `${inner.pointer}/`.startsWith(`${outer.pointer}/`);

function uuidParameter(value: unknown, parameter: string): string {
  if (typeof value === 'string' && isUuid(value)) return assetId(value);
  throw new ValidationFailed([{ parameter, code: 'format', detail: `${parameter} must be a UUID.` }]);
}
