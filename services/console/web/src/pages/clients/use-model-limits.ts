/** A model's context window and output limit, as the gateway reports them to the key's holder. */
import type { ModelLimits, SetupFacts } from '@model-gateway/client-setup';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';

const keyForm = /^gk-\w{46}$/;

/** undefined while nothing is known, or without a key to ask with. */
export function useModelLimits({ key, model }: SetupFacts): ModelLimits | undefined {
  // Of the word that stands for a model nothing is asked: the refusal would be a request of the key.
  const placeholder = useTranslation('clients').t('aModel');
  const asked = useQuery({
    queryKey: ['model-limits', model],
    enabled: keyForm.test(key) && model !== '' && model !== placeholder,
    retry: false,
    staleTime: 60_000,
    queryFn: async (): Promise<ModelLimits> => {
      const response = await fetch(`/v1/models/${encodeURIComponent(model)}`, { headers: { authorization: `Bearer ${key}` } });
      // A name that may not be used has no limits to tell.
      if (!response.ok) return {};
      const listed = (await response.json()) as { context_window?: number; max_input_tokens?: number; max_completion_tokens?: number };
      return { context: listed.context_window, input: listed.max_input_tokens, output: listed.max_completion_tokens };
    },
  });
  return asked.data;
}
