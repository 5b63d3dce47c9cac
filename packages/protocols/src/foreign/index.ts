/** Providers as other gateways name them, and how each is reached from here. */
import type { protocolIds } from '@model-gateway/contracts';

/** How a provider is reached. */
export interface Provider {
  protocol: (typeof protocolIds)[number];
  /** null: the source has to say. */
  base: string | null;
  /** Where the source's gateway finds the key when its file has none. */
  variable?: string;
}

const compatible = (base: string | null, variable?: string): Provider => ({ protocol: 'alpha', base, ...(variable && { variable }) });

/** LiteLLM's prefixes of `litellm_params.model`. Not listed: those whose credentials are no key (clouds). */
export const litellmProviders: Readonly<Record<string, Provider>> = {
  openai: compatible('https://api.openai.com', 'OPENAI_API_KEY'),
  anthropic: { protocol: 'beta', base: 'https://api.anthropic.com', variable: 'ANTHROPIC_API_KEY' },
  gemini: { protocol: 'gamma', base: 'https://generativelanguage.googleapis.com', variable: 'GEMINI_API_KEY' },
  mistral: compatible('https://api.mistral.ai', 'MISTRAL_API_KEY'),
  groq: compatible('https://api.groq.com/openai', 'GROQ_API_KEY'),
  deepseek: compatible('https://api.deepseek.com', 'DEEPSEEK_API_KEY'),
  openrouter: compatible('https://openrouter.ai/api', 'OPENROUTER_API_KEY'),
  together_ai: compatible('https://api.together.xyz', 'TOGETHERAI_API_KEY'),
  fireworks_ai: compatible('https://api.fireworks.ai/inference', 'FIREWORKS_AI_API_KEY'),
  xai: compatible('https://api.x.ai', 'XAI_API_KEY'),
  moonshot: compatible('https://api.moonshot.ai', 'MOONSHOT_API_KEY'),
  dashscope: compatible('https://dashscope.aliyuncs.com/compatible-mode', 'DASHSCOPE_API_KEY'),
  ollama: compatible('http://localhost:11434'),
  ollama_chat: compatible('http://localhost:11434'),
  lm_studio: compatible(null),
  hosted_vllm: compatible(null),
  vllm: compatible(null),
  custom_openai: compatible(null),
  openai_like: compatible(null),
  litellm_proxy: compatible(null),
};

/** Types of channels of one-api and new-api. Types that are not listed speak in ways of their own. */
export const channelTypes: Readonly<Record<number, Provider>> = {
  1: compatible('https://api.openai.com'),
  4: compatible('http://localhost:11434'),
  8: compatible(null),
  14: { protocol: 'beta', base: 'https://api.anthropic.com' },
  17: compatible('https://dashscope.aliyuncs.com/compatible-mode'),
  20: compatible('https://openrouter.ai/api'),
  24: { protocol: 'gamma', base: 'https://generativelanguage.googleapis.com' },
  25: compatible('https://api.moonshot.cn'),
  31: compatible('https://api.lingyiwanwu.com'),
  40: compatible('https://api.siliconflow.cn'),
  42: compatible('https://api.mistral.ai'),
  43: compatible('https://api.deepseek.com'),
  48: compatible('https://api.x.ai'),
};
