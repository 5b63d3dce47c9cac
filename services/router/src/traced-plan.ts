/** The router's span of a plan for a request that is traced. */
import type { Plan, PlanRequest } from '@model-gateway/contracts';
import { toGatewayError } from '@model-gateway/contracts/errors';
import type { Span, Tracer } from '@model-gateway/telemetry';

export function beginSpan({ traceparent, requestId, model, hops }: PlanRequest, tracer: Tracer | undefined): Span | undefined {
  if (traceparent === undefined) return undefined;
  const attributes = { 'gateway.request_id': requestId, 'gen_ai.request.model': model, 'gateway.hops': hops };
  return tracer?.join(traceparent, { name: 'router.plan', role: 'server', attributes });
}

export async function tracePlan(span: Span, make: () => Plan | Promise<Plan>): Promise<Plan> {
  try {
    const plan = await make();
    const { model, nodes, balanced, revision } = plan;
    span.set({
      'gateway.model': model,
      'gateway.nodes': nodes.map((node) => `${node.model} at ${node.upstream}`),
      'gateway.balanced': balanced,
      'gateway.revision': revision,
    });
    return plan;
  } catch (error) {
    span.fail(toGatewayError(error).code);
    throw error;
  } finally {
    span.end();
  }
}
