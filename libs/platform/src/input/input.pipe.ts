import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import { type InputFault, InputFaults, ValidationFailed, assetId, isUuid } from '#libs/kernel';
import type { ValidationError } from 'class-validator';
import { isForm } from './dto-kinds.decorator';
import { addMemberFaults } from './faults';
import type { Dto } from './known-members';
import { readableBody } from './readable-body';
import { readTexts } from './texts';

/** The query of a route without parameters. Any parameter is refused by name. */
export class NoQueryDto {}

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
