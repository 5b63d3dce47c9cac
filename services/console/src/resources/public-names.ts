/** Names that callers use: canonical ones and aliases, of models and load balancers, are one space. */
import type { CatalogWriter } from '@model-gateway/storage';
import { type Detail, Problem } from '../problem.ts';
import { checkNewName } from '../validation/new-name.ts';
import { joinPath } from '../validation/read-input.ts';

interface Named {
  name: string;
  aliases: readonly string[];
}

export function checkAliases({ name, aliases }: Named, noun: string): Detail[] {
  const seen = new Set([name]);
  return aliases.flatMap((alias, index) => {
    const unusable = checkNewName(alias, `aliases.${index}`);
    if (unusable.length > 0) return unusable;
    if (seen.has(alias)) return [{ field: `aliases.${index}`, message: alias === name ? `is the ${noun}'s own name` : 'appears twice' }];
    seen.add(alias);
    return [];
  });
}

/** Throws 409 that names each field whose name is taken. */
export async function refuseTakenNames({ name, aliases }: Named, { id, writer, prefix }: { id: string; writer: CatalogWriter; prefix: string }): Promise<void> {
  const found = await writer.modelNames.findTaken([name, ...aliases], id);
  if (found.length === 0) return;
  const details = found.map((taken) => ({
    field: joinPath(prefix, ...(taken.name === name ? ['name'] : ['aliases', aliases.indexOf(taken.name)])),
    message: taken.kind === 'alias' ? `is an alias of the ${taken.owner} ${taken.of}` : `is the name of another ${taken.owner}`,
  }));
  throw new Problem('conflict', `The name ${found[0]?.name} is taken: names and aliases of models and load balancers share one space.`, details);
}
