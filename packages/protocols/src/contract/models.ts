/** Lists of models: for callers, and from upstreams. */

import type { Operation } from '@model-gateway/contracts';
import type { ModelFamily } from '@model-gateway/model-catalog';
import type { Target, UpstreamRequest } from './target.ts';

/** One entry of a model list. */
export interface ListedModel {
  /** The name callers use. */
  name: string;
  /** Seconds since the epoch. */
  createdAt: number;
  ownedBy: string;
  /** Limits and abilities; of a load balancer, what all of its models have. Absent: nothing is known. */
  family?: ModelFamily;
  /** What it can be asked for; of a load balancer, what any of its models can be. Absent: conversations. */
  serves?: readonly Operation[];
}

/** How a list of models was asked for. */
export interface ModelsAsked {
  path: string;
  query: URLSearchParams;
}

/** Writes lists of models. Example: `writeModels([{ name, createdAt, ownedBy }], asked)` gives `{ object: 'list', data: […] }`. */
export interface ClientModels {
  /** A list of models, or one model, in this protocol's shape. Throws GatewayError invalid_request for a page that cannot be. */
  writeModels(models: readonly ListedModel[], asked: ModelsAsked): unknown;
  writeModel(model: ListedModel): unknown;
  /** The header by which callers of this kind learn from any reply that the list of models is another one now. Absent: there is none. */
  modelsTagHeader?(headers: Readonly<Record<string, string | undefined>>): string | null;
}

/** Reads the list of an upstream, for the console's probe. Example: `readModelList({ data: [{ id: 'a' }] })` gives `['a']`. */
export interface UpstreamModels {
  /** Address and reader of the model list, for the console's probe. */
  listModels(target: Target): UpstreamRequest;
  readModelList(body: unknown): string[];
}
