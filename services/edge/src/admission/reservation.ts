/** How much money a request may cost: what it says of its replies, what is known of the models it may come to, and their prices. */
import type { Job, ResolvedName, Snapshot } from '@model-gateway/contracts';
import { expectTokens, type PriceOf, reservationOfCalls } from '@model-gateway/model-catalog';
import type { ClientAdapter } from '@model-gateway/protocols';
import { familyOfModel, reachableModels } from '@model-gateway/routing';
import { type HostedAsked, hostedCallsOf } from './hosted-calls.ts';

/** What of a request decides. */
export interface Asked extends Omit<HostedAsked, 'group'> {
  named: ResolvedName;
  body: Buffer;
  /** Where the one scan of the body found top-level values. */
  values: Job['places']['values'];
  /** Of a form, instead: texts of its parts. */
  fields?: Readonly<Record<string, string>> | undefined;
  /** What it found of files. */
  files?: Job['places']['files'];
  client: Pick<ClientAdapter, 'readReplyLimits' | 'hostedTools'>;
}

/** For each currency the most that one of the models may cost, in millionths: which of them will answer is not known yet. */
export function reservationsOf(asked: Asked & Pick<HostedAsked, 'group'>, priceOf: PriceOf): Map<string, number> {
  const value = topLevelOf(asked);
  const limits = asked.client.readReplyLimits?.(value) ?? { replies: 1 };
  const hosted = hostedCallsOf(asked, value);
  const amounts = new Map<string, number>();
  for (const model of reachableModels(asked.snapshot, asked.named)) {
    const price = priceOf({ name: model.name, upstreamModelId: model.inference_profile ?? model.upstream_model_id });
    if (!price) continue;
    const family = familyOfModel(model);
    const amount = reservationOfCalls(price, expectTokens(asked.body.length, limits, family, asked.files), hosted, family);
    amounts.set(price.currency, Math.max(amount, amounts.get(price.currency) ?? 0));
  }
  if (hosted.searches) amounts.set(hosted.searches.currency, hosted.searches.micros + (amounts.get(hosted.searches.currency) ?? 0));
  return amounts;
}

/** The first model without a price that a request may come to; undefined: all have one. */
export const unpricedModel = (snapshot: Snapshot, named: ResolvedName, priceOf: PriceOf): string | undefined =>
  reachableModels(snapshot, named).find(
    ({ name, inference_profile, upstream_model_id }) => !priceOf({ name, upstreamModelId: inference_profile ?? upstream_model_id }),
  )?.name;

/** Gives top-level values of a body, of a form the text of a part. */
const topLevelOf =
  ({ body, values, fields }: Asked) =>
  (key: string): unknown => {
    if (fields) return Object.hasOwn(fields, key) ? fields[key] : undefined;
    const place = Object.hasOwn(values, key) ? values[key] : undefined;
    return place && parse(body, place);
  };

/** The scan has judged structure, and the text of top-level strings; what else is not JSON says nothing here and is refused by who reads it. */
function parse(body: Buffer, { start, end }: { start: number; end: number }): unknown {
  try {
    return JSON.parse(body.toString('utf8', start, end));
  } catch {
    return undefined;
  }
}
