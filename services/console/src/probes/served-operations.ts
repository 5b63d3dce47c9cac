/** What a model can be asked for, by the protocol of its upstream. */
import type { Operation } from '@model-gateway/contracts';
import { describeTarget } from '@model-gateway/routing';
import type { CatalogReader } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';

/** Of upstreams whose protocol does not say what it serves. */
const conversations: readonly Operation[] = ['generate'];

/** Of a load balancer: what any of its entries can be asked for. Names are those that callers use. Throws 404. */
export async function servedOperations(name: string, { storage: { catalog }, protocols }: ConsoleContext): Promise<ReadonlySet<Operation>> {
  const [found] = await catalog.modelNames.findTaken([name]);
  if (!found) throw new Problem('not_found', 'There is no model or load balancer of this name.');
  const models = found.owner === 'model' ? [found.of] : await entriesOf(found.of, catalog);
  const served = await Promise.all(
    models.map(async (name): Promise<readonly Operation[]> => {
      const model = (await catalog.models.find(name))?.document;
      const upstream = model && (await catalog.upstreams.find(model.upstream))?.document;
      if (!upstream) return [];
      const { protocol, target } = describeTarget(model, upstream);
      const adapter = protocols.find(({ id }) => id === protocol)?.upstream;
      return adapter ? (adapter.serves?.(target) ?? conversations) : [];
    }),
  );
  return new Set(served.flat());
}

async function entriesOf(name: string, catalog: CatalogReader): Promise<string[]> {
  const entries = (await catalog.loadBalancers.find(name))?.document.entries ?? [];
  return entries.map(({ model }) => model);
}
