/** Well-known providers: what the first-run wizard fills in for each. */
import type { ProtocolId } from '@model-gateway/contracts';

/** Preset for adding an upstream: protocol, base URL and a hint for its key. */
export interface ProviderPreset {
  id: string;
  name: string;
  protocol: ProtocolId;
  /** null: the operator's own. */
  baseUrl: string | null;
  /** How its keys look. */
  keyHint: string;
}

export const providerPresets: readonly ProviderPreset[] = [
  { id: 'openai', name: 'OpenAI', protocol: 'alpha', baseUrl: 'https://api.openai.com/v1', keyHint: 'sk-…' },
  { id: 'anthropic', name: 'Anthropic', protocol: 'beta', baseUrl: 'https://api.anthropic.com', keyHint: 'sk-ant-…' },
  { id: 'gemini', name: 'Google Gemini', protocol: 'gamma', baseUrl: 'https://generativelanguage.googleapis.com', keyHint: 'AIza…' },
  { id: 'deepseek', name: 'DeepSeek', protocol: 'alpha', baseUrl: 'https://api.deepseek.com/v1', keyHint: 'sk-…' },
  { id: 'dashscope', name: 'DashScope', protocol: 'delta', baseUrl: 'https://dashscope.aliyuncs.com/api/v1', keyHint: 'sk-…' },
  {
    id: 'bedrock',
    name: 'Amazon Bedrock',
    protocol: 'cloudhost_converse',
    baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
    keyHint: 'ACCESS_KEY_ID:SECRET_ACCESS_KEY',
  },
  { id: 'openrouter', name: 'OpenRouter', protocol: 'alpha', baseUrl: 'https://openrouter.ai/api/v1', keyHint: 'sk-or-…' },
  { id: 'ollama', name: 'Ollama', protocol: 'alpha', baseUrl: 'http://127.0.0.1:11434/v1', keyHint: '' },
  { id: 'vllm', name: 'vLLM', protocol: 'alpha', baseUrl: 'http://127.0.0.1:8000/v1', keyHint: '' },
  { id: 'custom', name: 'OpenAI-compatible', protocol: 'alpha', baseUrl: null, keyHint: 'sk-…' },
];
