/** Deployments of one name, fallbacks and aliases, as models and load balancers. */

/** One model behind one upstream, under the name that callers use. */
export interface Deployment {
  name: string;
  model: Record<string, unknown>;
  weight: number;
  order: number;
  price: Record<string, string> | null;
}

/** How deployments of one name share its requests. */
export interface Routing {
  strategy: 'weighted' | 'least_latency';
  isShuffle: boolean;
}

/** How names lead to deployments. */
export interface Names extends Routing {
  /** By name: what is asked when all of the name failed. */
  fallbacks: ReadonlyMap<string, readonly string[]>;
  /** By name. */
  aliases: ReadonlyMap<string, readonly string[]>;
}

interface Entry {
  model: string;
  weight: number;
}

/**
 * A name with one deployment and no fallback is a model. Any other is a load balancer over hidden models: entries of weight 0 are asked only when all others
 * failed, which is what fallbacks are.
 */
export function groupDeployments(deployments: readonly Deployment[], routing: Names) {
  const byName = new Map<string, Deployment[]>();
  for (const one of deployments) byName.set(one.name, [...(byName.get(one.name) ?? []), one]);
  const isPlain = (name: string): boolean => byName.get(name)?.length === 1 && (routing.fallbacks.get(name) ?? []).length === 0;
  const models: Record<string, unknown>[] = [];
  const pricing: Record<string, unknown>[] = [];
  const entries = new Map<string, Entry[]>();
  for (const [name, list] of byName) {
    const first = Math.min(...list.map(({ order }) => order));
    for (const [index, { model, weight, order, price }] of list.entries()) {
      const own = isPlain(name) ? name : `${name}--${index + 1}`;
      const aliases = isPlain(name) ? (routing.aliases.get(name) ?? []) : [];
      models.push({ name: own, ...model, ...(aliases.length > 0 && { aliases }), ...(!isPlain(name) && { hide_name: true }) });
      if (price !== null) pricing.push({ model: own, ...price });
      entries.set(name, [...(entries.get(name) ?? []), { model: own, weight: order > first ? 0 : weight }]);
    }
  }
  const balancers = [...byName.keys()].filter((name) => !isPlain(name));
  const load_balancers = balancers.map((name) => {
    const own = entries.get(name) ?? [];
    const later = (routing.fallbacks.get(name) ?? []).flatMap((target) => entries.get(target) ?? []).map(({ model }) => ({ model, weight: 0 }));
    const all = [...own, ...later].filter(({ model }, index, list) => list.findIndex((one) => one.model === model) === index);
    const isChain = own.length === 1 && later.length > 0;
    return {
      name,
      aliases: [...(routing.aliases.get(name) ?? [])],
      // One after the other where there is nothing to share.
      strategy: isChain ? 'priority' : routing.strategy,
      entries: isChain ? all.map(({ model }) => ({ model })) : all,
    };
  });
  return { models, pricing, load_balancers };
}
