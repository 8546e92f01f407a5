import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { InputFaults, ValidationFailed, isUuid, shown } from '#libs/kernel';
import { getMetadataStorage, validateSync } from 'class-validator';

type QueryClass = new () => object;

/** The query of a route without parameters. Any parameter is refused by name. */
export class NoQueryDto {}

/**
 * Checks a query against its DTO, whose members are optional strings. Refuses by name an unknown, repeated, bracketed
 * or empty parameter (decisions, section 5). Converts nothing.
 */
@Injectable()
export class StrictQueryPipe implements PipeTransform {
  private readonly known = new Map<QueryClass, ReadonlySet<string>>();

  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    if (metadata.type === 'param' && metadata.data === 'id') return uuidParameter(value, metadata.data);
    if (metadata.type !== 'query' || !metadata.metatype) return value;
    return this.checkQuery(value as Record<string, unknown>, metadata.metatype as QueryClass);
  }

  private checkQuery(query: Record<string, unknown>, type: QueryClass): object {
    const known = this.namesOf(type);
    const faults = new InputFaults();
    const checked = new type() as Record<string, unknown>;
    const given = Object.entries(query);
    for (const [parameter, value] of given) {
      if (!known.has(parameter)) {
        faults.add({
          parameter,
          code: 'unknown',
          detail: `${shown(parameter)} is not a parameter of this operation.`,
        });
      } else if (typeof value !== 'string') {
        faults.add({ parameter, code: 'duplicated', detail: `${parameter} is given more than once.` });
      } else if (value === '') {
        faults.add({ parameter, code: 'required', detail: `${parameter} must not be empty.` });
      } else {
        checked[parameter] = value;
      }
    }
    for (const error of given.length === 0 || known.size === 0 ? [] : validateSync(checked)) {
      const [[constraint, detail] = ['', 'is malformed']] = Object.entries(error.constraints ?? {});
      faults.add({
        parameter: error.property,
        code: constraint === 'isIn' ? 'choice' : 'format',
        detail: `${detail}.`,
      });
    }
    faults.throwAny();
    return checked;
  }

  private namesOf(type: QueryClass): ReadonlySet<string> {
    let names = this.known.get(type);
    if (!names) {
      const metadata = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
      names = new Set(metadata.map((entry) => entry.propertyName));
      this.known.set(type, names);
    }
    return names;
  }
}

function uuidParameter(value: unknown, parameter: string): string {
  if (typeof value === 'string' && isUuid(value)) return value.toLowerCase();
  throw new ValidationFailed([{ parameter, code: 'format', detail: `${parameter} must be a UUID.` }]);
}
