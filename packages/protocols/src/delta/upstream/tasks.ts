/** Tasks of the native API: begun by a header, asked about below `/tasks`. */
import { type TaskStatus, vendorConfigs } from '@model-gateway/contracts';
import type { Target, UpstreamTaskCodec } from '../../contract/index.ts';
import { joinUrl } from '../../kit/join-url.ts';
import { asObject, asString, own } from '../../kit/read.ts';
import { rootOf } from './address.ts';
import { readUnaryUsage } from './usage.ts';

export const asyncHeader = 'x-dashscope-async';
const maxIdLength = 200;

/** Anything else is on its way: PENDING, RUNNING, SUSPENDED. */
const ended: Readonly<Record<string, TaskStatus>> = { SUCCEEDED: 'succeeded', FAILED: 'failed', CANCELED: 'canceled', UNKNOWN: 'lost' };

/** The model's own setting, by itself or among those of this vendor. */
const isAsync = ({ extraConfig }: Target): boolean =>
  [extraConfig, ...vendorConfigs.map((name) => own(extraConfig, name))].some((config) => own(config, 'async_mode') === true);

export const tasks: UpstreamTaskCodec = {
  begins: (target, headers) => isAsync(target) || headers[asyncHeader]?.toLowerCase() === 'enable',
  readId(body) {
    const id = asString(own(own(body, 'output'), 'task_id'));
    return id !== undefined && id !== '' && id.length <= maxIdLength ? id : undefined;
  },
  withId(body, id) {
    const output = asObject(own(body, 'output'));
    return output ? { ...asObject(body), output: { ...output, task_id: id } } : body;
  },
  request: (target, id, action) => ({
    method: action === undefined ? 'GET' : 'POST',
    url: joinUrl(rootOf(target.baseUrl), 'api/v1', `/tasks/${encodeURIComponent(id)}${action === undefined ? '' : `/${action}`}`),
    headers: { accept: 'application/json' },
  }),
  read(body) {
    const status = ended[asString(own(own(body, 'output'), 'task_status')) ?? ''] ?? 'running';
    return { status, usage: status === 'succeeded' ? readUnaryUsage(body) : null };
  },
};
