/** Prices of a configuration file of version 1, which are whole micro-units, as version 2 has them: decimal strings. */
import { isObject, maxPriceMicros, priceFields, printMoney } from '@model-gateway/contracts';
import { type Detail, invalid } from '../problem.ts';

const whole = `must be a whole number of micro-units, from 0 to ${maxPriceMicros}, in a file of version 1; version 2 has decimal strings of the currency`;

/** `index`: in the file's section, for the fields that a 422 names. What is not a price is left for others to check. */
export function fromMicroUnits<T extends Readonly<Record<string, unknown>>>(price: T, index: number): T {
  const faults: Detail[] = [];
  const convert = (fields: Readonly<Record<string, unknown>>, at: string): Record<string, unknown> => {
    const converted = { ...fields };
    for (const field of priceFields) {
      const micros = fields[field];
      if (micros === undefined || micros === null) continue;
      if (typeof micros === 'number' && Number.isSafeInteger(micros) && micros >= 0 && micros <= maxPriceMicros) converted[field] = printMoney(micros);
      else faults.push({ field: `${at}.${field}`, message: whole });
    }
    return converted;
  };
  const at = `pricing.${index}`;
  const converted = convert(price, at);
  for (const list of ['tiers', 'service_tiers']) {
    const tiers = price[list];
    if (Array.isArray(tiers)) converted[list] = tiers.map((tier: unknown, place) => (isObject(tier) ? convert(tier, `${at}.${list}.${place}`) : tier));
  }
  if (faults.length > 0) throw invalid(faults);
  return converted as unknown as T;
}
