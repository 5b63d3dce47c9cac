/** The API's explanation of a route. */
import type { ExplainedNode, Explanation } from '@model-gateway/contracts';

export type { ExplainedKey, ExplainedNode, NodeStanding } from '@model-gateway/contracts';

export interface ExplainAnswer extends Explanation {
  access_key: string;
  key_group: string;
  client_protocol: string;
  /** What each router would do, by name. */
  routers: { process: string; nodes: ExplainedNode[]; refusal: Explanation['refusal'] }[];
  processes: { answered: string[]; missing: string[] };
}
