/** The API's explanation of a route. */
import type { Explanation } from '@model-gateway/contracts';

export type { ExplainedKey, ExplainedNode, NodeStanding } from '@model-gateway/contracts';

export interface ExplainAnswer extends Explanation {
  access_key: string;
  key_group: string;
  client_protocol: string;
}
