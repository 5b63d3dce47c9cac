import type { ExplainedNode, ExplainRequest, Explanation } from './explain.ts';
import type { EdgeLimits, TranslatorLimits } from './limits.ts';
import type { McpServerStatus } from './mcp.ts';

/** Questions that every live process of a kind answers for itself: topic → request and the answer of one process. */
export interface GatherTopics {
  /** What one edge, or one translator, says of the limits it keeps. */
  'edge-limits': { request: Record<string, never>; answer: EdgeLimits };
  'translator-limits': { request: Record<string, never>; answer: TranslatorLimits };
  /** Which upstream key each of these access keys is bound to in one router. */
  'key-bindings': { request: { accessKeys: string[] }; answer: { bindings: KeyBinding[] } };
  /** A plan of one router that changes nothing, with the reasons. */
  'route-explain': { request: ExplainRequest; answer: Explanation };
  /** What one MCP aggregator knows of servers: of all without their tools, or of one with them. */
  'mcp-servers': { request: { server?: string }; answer: { servers: McpServerStatus[] } };
  /** State of a load balancer's nodes in one router. */
  'balancer-nodes': { request: { loadBalancer: string; revision: number }; answer: { nodes: ExplainedNode[] } };
}
export type GatherTopic = keyof GatherTopics;

/** An access key bound to one key of an upstream in one router; `idleMs` since its last use. */
export interface KeyBinding {
  accessKey: string;
  upstream: string;
  /** Position of the key, and the positions and weights it was chosen among. */
  keyIndex: number;
  fingerprint: string;
  idleMs: number;
}
