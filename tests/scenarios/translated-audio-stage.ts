import OpenAI, { toFile } from 'openai';
import { AnsweringServer } from '../support/answering-server.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

export const samples = Buffer.from(Uint8Array.from({ length: 48_000 }, (_, at) => (at * 7) % 251));
export const upstream = new AnsweringServer();
const models = [
  { name: 'gemini-tts', upstream: 'gamma', upstream_model_id: 'gemini-2.5-flash-preview-tts', extra_config: { voices: { alloy: 'Kore' } } },
  { name: 'gemini', upstream: 'gamma', upstream_model_id: 'gemini-2.5-flash' },
  { name: 'qwen-tts', upstream: 'delta', upstream_model_id: 'qwen3-tts-flash', kind: 'delta-multimodal' },
  { name: 'qwen-asr', upstream: 'delta', upstream_model_id: 'qwen3-asr-flash', kind: 'delta-multimodal' },
  { name: 'qwen-audio', upstream: 'delta', upstream_model_id: 'qwen-audio-turbo', kind: 'delta-multimodal' },
  { name: 'filetrans', upstream: 'delta', upstream_model_id: 'qwen3-asr-flash-filetrans', kind: 'delta-audio-asr' },
  { name: 'hurried', upstream: 'hurried', upstream_model_id: 'paraformer-v2', kind: 'delta-audio-asr' },
  { name: 'paraformer', upstream: 'delta', upstream_model_id: 'paraformer-v2', kind: 'delta-audio-asr' },
];
let gateway: InProcessGateway;
export let strict: InProcessGateway;
let asked = 0;

export async function startAudio(): Promise<void> {
  await upstream.start();
  const at = (name: string) => ({ name, protocol: name as 'gamma', base_url: upstream.address, api_keys: [{ key: `sk-of-${name}` }] });
  const hurried = { ...at('delta'), name: 'hurried', timeouts: { total_ms: 900 } };
  gateway = await startInProcess({ upstreams: [at('gamma'), at('delta'), hurried], models });
  strict = await startInProcess({ upstreams: [at('gamma'), at('delta'), hurried], models, group: { strict_translation: true } });
}

export async function stopAudio(): Promise<void> {
  await gateway?.stop();
  await strict?.stop();
  upstream.stop();
}

export function sdk(at = gateway): { openai: OpenAI; row: () => ReturnType<InProcessGateway['row']> } {
  const id = `translated-audio-${++asked}`;
  upstream.received.length = 0;
  const openai = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key, maxRetries: 0, defaultHeaders: { 'z-request-id': id } });
  return { openai, row: () => at.row(id) };
}
export const lossesOf = (row: { losses: { field: string; action: string }[] }) => row.losses.map(({ field, action }) => `${field} ${action}`);
export const file = () => toFile(samples, 'übung.wav', { type: 'audio/wav' });
export const failure = (call: Promise<unknown>) => call.catch((error: unknown) => error);

/** Samples of 16 bits and one channel as a file. */
export function writeWave(sound: Buffer, rate: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + sound.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt32LE(rate, 24);
  head.write('data', 36);
  head.writeUInt32LE(sound.length, 40);
  return Buffer.concat([head, sound]);
}

export const geminiSpeech = (mimeType = 'audio/L16;codec=pcm;rate=24000') => ({
  candidates: [{ content: { role: 'model', parts: [{ inlineData: { mimeType, data: samples.toString('base64') } }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 50, totalTokenCount: 54, candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }] },
});
