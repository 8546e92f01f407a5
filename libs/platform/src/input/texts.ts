import { InputFaults, shown } from '#libs/kernel';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { didYouMean } from './did-you-mean';
import { type Dto, isForm, knownTo } from './dto-metadata.decorator';
import { addParameterFaults } from './faults';
import { TEXTS } from './member';

/** Texts of a query or form by parameter. */
export type Texts = Readonly<Record<string, string>>;

/** Converts texts that were checked before. */
export const fromTexts = <Type extends object>(dto: Dto<Type>, texts: Texts): Type =>
  plainToInstance(dto, texts, { groups: [TEXTS], exposeUnsetFields: false });

/**
 * Reads the parameters of a query or form. Refuses a repeated one, and in a query an empty or unknown one (decisions,
 * section 5).
 * @throws `validation_failed` with every invalid parameter
 */
export function readTexts(dto: Dto, given: object): object {
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
