/** What each live router says of the same question: turns, bindings and breakers are every router's own. */
import type { ExplainedNode, ExplainRequest, Explanation } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { ConsoleContext } from '../context.ts';

/** Which processes answered a query to all of them, and which did not. */
export interface Processes {
  answered: string[];
  /** Live routers that said nothing in time. */
  missing: string[];
}

/** The state of the nodes in one router. */
export interface RouterNodes {
  process: string;
  nodes: ExplainedNode[];
}

/** What one router would do. */
export interface RouterWay extends RouterNodes {
  refusal: Explanation['refusal'];
}

/** A router that was busy or has to fetch the revision first may take so long. */
const waitMs = 1_000;

/** Returns the nodes of the first router by name, with the differences of the other routers beside them. 503 when none answers. */
export async function readNodes(
  loadBalancer: string,
  context: ConsoleContext,
): Promise<{ nodes: ExplainedNode[]; routers: RouterNodes[]; processes: Processes }> {
  const { answers, processes, first } = await askRouters('balancer-nodes', { loadBalancer, revision: await context.storage.catalog.revision() }, context);
  return { nodes: first.nodes, routers: answers.map(({ process, answer: { nodes } }) => ({ process, nodes })), processes };
}

/** As `readNodes`, for explanations. Facts that do not depend on the router are given once. */
export async function explainWays(
  request: Omit<ExplainRequest, 'revision'>,
  context: ConsoleContext,
): Promise<{ explanation: Explanation; routers: RouterWay[]; processes: Processes }> {
  const { answers, processes, first } = await askRouters('route-explain', { ...request, revision: await context.storage.catalog.revision() }, context);
  return { explanation: first, routers: answers.map(({ process, answer: { nodes, refusal } }) => ({ process, nodes, refusal })), processes };
}

async function askRouters<T extends 'balancer-nodes' | 'route-explain'>(
  topic: T,
  request: Parameters<typeof context.gatherer.gather<T>>[1],
  context: ConsoleContext,
) {
  const { answers, missing } = await context.gatherer.gather(topic, request, waitMs);
  const sorted = answers.toSorted((one, other) => (one.process < other.process ? -1 : 1));
  const [first] = sorted;
  if (!first) throw new GatewayError('service_unavailable', { message: 'No router answers.' });
  return { answers: sorted, first: first.answer, processes: { answered: sorted.map(({ process }) => process), missing } };
}
