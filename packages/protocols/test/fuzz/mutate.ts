/** Changes JSON values at places chosen by a seed: what an optional field may hold when its sender is careless or hostile. */

/** Numbers from 0 to 1, the same for the same seed. */
export type Random = () => number;

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)] as T;

/** Values of a wrong type. Made anew each time, so that no two paths share an object. */
const odd: readonly (() => unknown)[] = [
  () => null,
  () => [],
  () => '',
  () => ({}),
  () => 0,
  () => -1,
  () => 1.5,
  () => 1e308,
  () => true,
  () => false,
  () => 'x',
  () => '\ud800',
  () => [null],
  () => [[]],
  () => [{}],
  () => [''],
  () => ({ type: null }),
  () => ({ type: 'unheard_of' }),
  () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}') as unknown,
  () => '__proto__',
];

type Holder = Record<string, unknown> | unknown[];

/** Every place below `value`, as its holder and key. */
function places(value: unknown, found: [Holder, string][] = []): [Holder, string][] {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push([value as Holder, key]);
    places((value as Record<string, unknown>)[key], found);
  }
  return found;
}

/** Taken out, doubled, moved, or replaced by something odd. */
function change([holder, key]: [Holder, string], random: Random): void {
  const how = random();
  if (Array.isArray(holder)) {
    const at = Number(key);
    if (how < 0.1) holder.splice(at, 1);
    else if (how < 0.2) holder.splice(at, 0, structuredClone(holder[at]));
    else if (how < 0.25) holder.push(...holder.splice(at, 1));
    else holder[at] = pick(odd, random)();
  } else if (how < 0.15) delete holder[key];
  else Object.defineProperty(holder, key, { value: pick(odd, random)(), enumerable: true, writable: true, configurable: true });
}

/** A copy with one to `most` changes. */
export function mutate<T>(value: T, random: Random, max: number): T {
  const holder = { value: structuredClone(value) };
  for (let left = Math.floor(random() * max); left >= 0; left--) {
    const found = places(holder);
    if (found.length > 0) change(pick(found, random), random);
  }
  // The value itself may have been taken out.
  return Object.hasOwn(holder, 'value') ? holder.value : (null as T);
}

/** A copy of a list of records with one to `most` changes in what they hold; some records are left out, said twice or moved. */
export function mutateRecords<T extends { json: unknown }>(records: readonly T[], random: Random, max: number): T[] {
  const list = [...records];
  for (let left = Math.floor(random() * max); left >= 0; left--) {
    const at = Math.floor(random() * list.length);
    const record = list[at];
    if (!record) break;
    const how = random();
    if (how < 0.08) list.splice(at, 1);
    else if (how < 0.14) list.splice(at, 0, record);
    else if (how < 0.2) list.splice(Math.floor(random() * list.length), 0, ...list.splice(at, 1));
    else if (record.json !== undefined) list[at] = { ...record, json: mutate(record.json, random, 1) };
  }
  return list;
}
