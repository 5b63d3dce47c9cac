/** The limits on the way of one request, and what is left of each: the part of an explanation that routers do not know. */
import type { ExplainedLimit, Explanation, KeyRateLimit } from '@model-gateway/contracts';
import type { GateStatus, LimitStatus } from './limit-status.ts';

export interface Way {
  accessKey: string;
  keyGroup: string;
  /** The key's own limit, else its group's; null: what the edge's settings say, which is known once the key was seen. */
  keyLimit: KeyRateLimit | null;
  nodes: Explanation['nodes'];
}

export function explainLimits(status: LimitStatus, { accessKey, keyGroup, keyLimit, nodes }: Way): ExplainedLimit[] {
  const limits: ExplainedLimit[] = [];
  const add = (layer: string, name: string, limit: number | null, left: number): void => {
    if (limit !== null) limits.push({ layer, name, limit, left });
  };
  add('global', 'requests', status.global.limit, (status.global.limit ?? 0) - status.global.used);
  add('global', 'streams', status.streams.limit, (status.streams.limit ?? 0) - status.streams.used);
  const counter = status.keys.find(({ name }) => name === accessKey);
  const keyCap = keyLimit?.rpm ?? counter?.limit ?? null;
  add('key', accessKey, keyCap, Math.max(0, (keyCap ?? 0) - (counter?.used ?? 0)));
  for (const { kind, name, limit_micros, spent_micros, reserved_micros } of status.budgets)
    if (name === (kind === 'key' ? accessKey : keyGroup))
      add(`budget_${kind}`, name, limit_micros, Math.max(0, limit_micros - (spent_micros ?? 0) - reserved_micros));
  const seen = new Set<GateStatus>();
  for (const { model, upstream } of nodes) {
    // The model's own limit replaces the upstream's.
    const own = status.models.find(({ name }) => name === model);
    const gate = own ?? status.upstreams.find(({ name }) => name === upstream);
    if (!gate || seen.has(gate)) continue;
    seen.add(gate);
    const layer = own ? 'model' : 'upstream';
    const { rpm, tpm, max_concurrency } = gate.limit;
    add(`${layer}_rpm`, gate.name, rpm, gate.rpm_left ?? 0);
    add(`${layer}_tpm`, gate.name, tpm, gate.tpm_left ?? 0);
    add(`${layer}_concurrency`, gate.name, max_concurrency, Math.max(0, (max_concurrency ?? 0) - gate.used));
  }
  return limits;
}
