import { pricingSchema, type RequestRow } from '@model-gateway/contracts';
import { costOfRow, createPriceBook } from '@model-gateway/model-catalog';
import { createOutbound } from '@model-gateway/upstream-client';
import OpenAI, { toFile } from 'openai';
import { AnsweringServer } from '../support/answering-server.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

export const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(2000, 7)]);
export const b64 = png.toString('base64');
export const usage = { input_tokens: 30, input_tokens_details: { image_tokens: 20, text_tokens: 10 }, output_tokens: 400, total_tokens: 430 };
export const geminiReply = {
  candidates: [{ content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: b64 } }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290, totalTokenCount: 1295 },
};
const price = createPriceBook([
  pricingSchema.parse({ name: 'by-the-image', model: 'qwen-image', mode: 'per_image', unit: 40_000_000_000 }),
  pricingSchema.parse({ name: 'by-the-token', model: 'images', input: 5_000_000, output: 30_000_000, image_input: 10_000_000, image_output: 40_000_000 }),
  pricingSchema.parse({ name: 'of-the-writer', model: 'gpt-6', input: 1_000_000, output: 2_000_000, reasoning: 3_000_000 }),
]);

export const timeouts = { connect_ms: 5000, first_byte_ms: 20_000, idle_ms: 20_000, total_ms: 60_000 };
let publicUrls: ReturnType<typeof createOutbound>;
const openPublicUrls = () => createOutbound({ allowPrivate: false, timeouts, userAgent: 'test', logger: { warn() {}, error() {} } });

export const upstream = new AnsweringServer();
/** A private server that no upstream is entered for. */
export const elsewhere = new AnsweringServer();
export let gateway: InProcessGateway;
export let strict: InProcessGateway;
export let address: string;
let asked = 0;

export async function start(more: Partial<Parameters<typeof startInProcess>[0]> = {}): Promise<InProcessGateway> {
  return startInProcess({
    upstreams: ['alpha', 'alpha_images', 'gamma', 'delta', 'beta'].map((name) => ({
      name,
      protocol: name as 'alpha',
      base_url: address,
      api_keys: [{ key: `sk-of-${name}` }],
    })),
    models: [
      { name: 'images', upstream: 'alpha_images', upstream_model_id: 'gpt-image-2' },
      { name: 'chat', upstream: 'alpha', upstream_model_id: 'gpt-image-2' },
      { name: 'dall-e', upstream: 'alpha', upstream_model_id: 'dall-e-3' },
      { name: 'gemini', upstream: 'gamma', upstream_model_id: 'gemini-2.5-flash-image' },
      { name: 'imagen', upstream: 'gamma', upstream_model_id: 'imagen-4.0-generate-001' },
      { name: 'qwen-image', upstream: 'delta', upstream_model_id: 'qwen-image-edit-plus', kind: 'delta-multimodal' },
      { name: 'wan', upstream: 'delta', upstream_model_id: 'wan2.2-t2i-flash' },
      { name: 'wan-edit', upstream: 'delta', upstream_model_id: 'wan2.5-i2i-preview', kind: 'delta-multimodal' },
      { name: 'wanx-edit', upstream: 'delta', upstream_model_id: 'wanx2.1-imageedit' },
      { name: 'ruled', upstream: 'alpha_images', upstream_model_id: 'gpt-image-2', request_body_rules: [{ mode: 'overwrite', path: 'quality', value: 'low' }] },
      { name: 'claude', upstream: 'beta', upstream_model_id: 'claude' },
    ],
    publicUrls,
    ...more,
  });
}

export async function startImages(): Promise<void> {
  publicUrls = openPublicUrls();
  await upstream.start();
  address = upstream.address;
  await elsewhere.start();
  gateway = await start();
  strict = await start({ group: { strict_translation: true } });
}

export async function stopImages(): Promise<void> {
  await gateway?.stop();
  await strict?.stop();
  await publicUrls.close();
  upstream.stop();
  elsewhere.stop();
}

/** The SDK, and the id by which the row of its next request is found. */
export function sdk(at = gateway): { openai: OpenAI; row: () => ReturnType<InProcessGateway['row']> } {
  const id = `images-${++asked}`;
  upstream.received.length = 0;
  const openai = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key, maxRetries: 0, defaultHeaders: { 'z-request-id': id } });
  return { openai, row: () => at.row(id) };
}
/** In millionths. */
export const costOf = (row: RequestRow) =>
  costOfRow(price.find({ name: row.model ?? '', upstreamModelId: row.upstream_model_id ?? '' }, Date.now())!, row, (model) => price.find(model, Date.now()));
export const files = (count: number) => Promise.all(Array.from({ length: count }, (_, at) => toFile(png, `bild ü${at}.png`, { type: 'image/png' })));
export const lossesOf = (row: { losses: { field: string; action: string }[] }) => row.losses.map(({ field, action }) => `${field} ${action}`);
