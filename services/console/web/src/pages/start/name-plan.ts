/** Under which names a provider's models are offered, and what becomes of names that are taken. */
import type { CallableName } from '../../api/use-catalog.ts';

/** How a chosen model gets its name. */
export interface NameChoice {
  /** What was typed in place of prefix and provider's name. */
  typed?: string;
  /** Put behind the name that is taken, together with what has it. */
  joins?: boolean;
}

/** One model to be made. */
export interface PlannedName {
  /** As the provider calls it. */
  id: string;
  name: string;
  /** What has the name. null: it is free. `repeated`: another model of this list has it. */
  taken: 'model' | 'load-balancer' | 'alias' | 'repeated' | null;
  joins: boolean;
}

/** Models and load balancers may be shared; an alias is somebody else's name. */
export const mayJoin = (taken: PlannedName['taken']): boolean => taken === 'model' || taken === 'load-balancer';

export function planNames(
  ids: readonly string[],
  prefix: string,
  choices: Readonly<Record<string, NameChoice>>,
  names: readonly CallableName[],
): PlannedName[] {
  const canonical = new Map(names.map(({ name, kind }) => [name, kind]));
  const aliases = new Set(names.flatMap((one) => one.aliases));
  const seen = new Set<string>();
  return ids.map((id) => {
    const choice = choices[id] ?? {};
    const name = (choice.typed ?? `${prefix}${id}`).trim();
    const taken = seen.has(name) ? 'repeated' : (canonical.get(name) ?? (aliases.has(name) ? 'alias' : null));
    seen.add(name);
    return { id, name, taken, joins: choice.joins === true && mayJoin(taken) };
  });
}

export const isSettled = ({ name, taken, joins }: PlannedName): boolean => name !== '' && (taken === null || joins);
