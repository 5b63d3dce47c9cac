/** Makes models of a provider's list, each under the provider's own name. */
import { useQueryClient } from '@tanstack/react-query';
import { call, path } from './client.ts';
import { ApiProblem } from './problem.ts';

/** Resolves to the names; those that exist already for this very upstream count as added. Throws at the first that cannot be. */
export function useAddModels(upstream: string): (ids: readonly string[]) => Promise<string[]> {
  const client = useQueryClient();
  return async (ids) => {
    try {
      for (const id of ids) await addModel(upstream, id);
    } finally {
      await client.invalidateQueries({ queryKey: ['models'] });
      await client.invalidateQueries({ queryKey: ['catalog-names'] });
    }
    return [...ids];
  };
}

async function addModel(upstream: string, id: string): Promise<void> {
  try {
    await call('models', { method: 'POST', body: { name: id, upstream, upstream_model_id: id } });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status !== 409) throw error;
    const present = await call<{ upstream: string }>(path('models', id)).catch(() => null);
    if (present?.upstream !== upstream) throw error;
  }
}
