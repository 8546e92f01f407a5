/** @throws `TypeError` for NaN, which a timer takes for one millisecond */
export function checkNumbers(options: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (Number.isNaN(value)) throw new TypeError(`The option ${name} is not a number.`);
  }
}
