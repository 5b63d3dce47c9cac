/** The model lists, in each protocol's shape, from the snapshot alone. */
import type { Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/errors';
import type { ListedModel, RouteMatch } from '@model-gateway/protocols';
import { listedNames } from '@model-gateway/routing';
import type { Principal } from '../admission/credentials.ts';
import type { Exchange } from '../exchange.ts';

export function answerModels(exchange: Exchange, match: RouteMatch, principal: Principal, snapshot: Snapshot): void {
  const { client } = exchange.door;
  const models: ListedModel[] = listedNames(snapshot, principal.group).map(({ name, createdAt }) => ({
    name,
    createdAt: Math.floor((createdAt ?? 0) / 1000),
    ownedBy: 'model-gateway',
  }));
  if (match.operation === 'list-models') return exchange.answer(200, JSON.stringify(client.writeModels(models)));
  const one = models.find((model) => model.name === match.model);
  if (!one) throw new GatewayError('model_not_found');
  exchange.answer(200, JSON.stringify(client.writeModel(one)));
}
