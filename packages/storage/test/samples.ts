/** Documents and rows that the suites vary. */
import { newRequestRow, type RequestRow } from '@model-gateway/contracts';
import type { AccessKeyDocument, KeyGroupDocument, ModelDocument, UpstreamDocument } from '../src/index.ts';

export const sampleUpstream = (over: Partial<UpstreamDocument> = {}): UpstreamDocument => ({
  name: 'main',
  protocol: 'alpha',
  base_url: 'https://api.example.com/v1',
  api_keys: [{ id: 'k1', sealed: 'sealed-text', weight: 1 }],
  enabled: true,
  custom_headers: { 'x-zeta': '1', 'x-alpha': '2' },
  user_agent: null,
  token_counting: 'upstreamApi',
  timeouts: {},
  on_client_abort: 'cancel',
  neutral_headers: false,
  extra_config: null,
  ...over,
});

export const sampleModel = (over: Partial<ModelDocument> = {}): ModelDocument => ({
  name: 'fast',
  upstream: 'main',
  upstream_model_id: 'vendor-fast-1',
  aliases: [],
  hide_name: false,
  signature_passthrough: false,
  protocol: null,
  base_url: null,
  direct_path: false,
  kind: null,
  inference_profile: null,
  token_counting: 'inherit',
  extra_config: null,
  enabled: true,
  ...over,
});

export const sampleGroup = (over: Partial<KeyGroupDocument> = {}): KeyGroupDocument => ({
  name: 'team',
  models: ['*'],
  header_acl: [],
  strict_translation: false,
  enabled: true,
  description: '',
  ...over,
});

export const sampleKey = (over: Partial<AccessKeyDocument> = {}): AccessKeyDocument => ({
  name: 'ada',
  group: 'team',
  enabled: true,
  expires_at: null,
  description: '',
  tags: [],
  anonymous: false,
  mask: 'gk-a****wxyz',
  hash: 'a'.repeat(64),
  sealed: 'sealed-key',
  ...over,
});

export const sampleRow = (over: Partial<RequestRow> = {}): RequestRow =>
  newRequestRow({
    id: 'r1',
    started_at: 1_700_000_000_000,
    authority: 1,
    access_key: 'ada',
    key_group: 'team',
    model: 'fast',
    requested_model: 'fast',
    upstream: 'main',
    upstream_model_id: 'vendor-fast-1',
    client_protocol: 'alpha',
    upstream_protocol: 'beta',
    stream: true,
    status: 200,
    attempts: [{ upstream: 'main', key_index: 0, status: 200, error_code: null, duration_ms: 12 }],
    input_tokens: 10,
    output_tokens: 20,
    reasoning_tokens: 3,
    usage_source: 'upstream',
    queue_ms: 1,
    ttfb_ms: 5,
    first_content_ms: 6,
    duration_ms: 30,
    request_bytes: 100,
    response_bytes: 200,
    client_ip: '127.0.0.1',
    user_agent: 'test',
    losses: [{ field: 'tools.0.strict', action: 'dropped', detail: 'not known there' }],
    pipeline: ['translate', 'body-rules'],
    routes: ['asked', 'served'],
    ...over,
  });
