/** The models that scripts name with `useModel`. */
import type { ScriptFault, Snapshot } from '@model-gateway/contracts';

export const unknownModel: ScriptFault = { code: 'UnknownModel', message: 'useModel names no model or load balancer that is there', line: null };

/** An alias is another word for a model that the request may be at already; what `useModel` named was judged to exist. */
export function canonicalName(name: string | null, { names }: Snapshot): string | undefined {
  const named = name === null ? undefined : names.get(name);
  return (named?.model ?? named?.balancer)?.name;
}
