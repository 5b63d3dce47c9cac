/** The model lists, in each protocol's shape, from the snapshot alone. */
import { createHash } from 'node:crypto';
import type { CatalogState, KeyGroup, Model, Operation, Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { findProtocol, type ListedModel, type RouteMatch } from '@model-gateway/protocols';
import { describeTarget, listedNames } from '@model-gateway/routing';
import type { ClientExchange } from '../client-exchange.ts';

interface List extends CatalogState {
  models: readonly ListedModel[];
  /** The same for every shape, and on every edge: it tells what is listed. */
  tag: string;
}

/** Made once for each group and revision that somebody asks about. */
const lists = new WeakMap<KeyGroup, List>();

/** Of upstreams whose protocol does not say what it serves. */
const conversations: readonly Operation[] = ['generate'];

function servedBy(snapshot: Snapshot, model: Model): readonly Operation[] {
  const upstream = snapshot.upstreams.get(model.upstream);
  if (!upstream) return [];
  const { protocol, target } = describeTarget(model, upstream);
  return findProtocol(protocol)?.upstream?.serves?.(target) ?? conversations;
}

function listOf(snapshot: Snapshot, group: KeyGroup): List {
  const known = lists.get(group);
  if (known?.revision === snapshot.revision && known.committedAt === snapshot.committedAt) return known;
  const models: ListedModel[] = listedNames(snapshot, group).map(({ name, createdAt, family, models }) => ({
    name,
    createdAt: Math.floor((createdAt ?? 0) / 1000),
    ownedBy: 'model-gateway',
    ...(family && { family }),
    serves: [...new Set(models.flatMap((model) => servedBy(snapshot, model)))],
  }));
  const tag = `W/"${createHash('sha256').update(JSON.stringify(models)).digest('base64url').slice(0, 22)}"`;
  const list = { revision: snapshot.revision, committedAt: snapshot.committedAt, models, tag };
  lists.set(group, list);
  return list;
}

/** Version of the model list, sent with replies to callers that cache the list. */
export const modelsTag = (snapshot: Snapshot, group: KeyGroup): string => listOf(snapshot, group).tag;

/** One path has several shapes, told apart by headers: a cache between must know. */
const shapeHeaders = 'authorization, x-api-key, api-key, x-goog-api-key, x-gamma-api-key, anthropic-version, beta-version, x-goog-api-client';

/** A question about models. */
interface ModelsQuestion {
  match: RouteMatch;
  query: URLSearchParams;
}

/** Throws GatewayError for a model that is not listed, or a page that cannot be. */
export function answerModels(exchange: ClientExchange, { match, query }: ModelsQuestion, group: KeyGroup, snapshot: Snapshot): void {
  const { client } = exchange.protocol;
  const { models, tag } = listOf(snapshot, group);
  if (match.operation === 'list-models') {
    const headers = { etag: tag, vary: `${shapeHeaders}, origin`, 'cache-control': 'private, no-cache' };
    if (exchange.request.headers['if-none-match'] === tag) return exchange.answerUnchanged(headers);
    return exchange.answer(200, JSON.stringify(client.writeModels(models, { path: exchange.path, query })), headers);
  }
  const one = models.find((model) => model.name === match.model);
  if (!one) throw new GatewayError('model_not_found');
  exchange.answer(200, JSON.stringify(client.writeModel(one)));
}
