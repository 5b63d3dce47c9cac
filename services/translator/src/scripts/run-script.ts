/** Runs the script of one slot, where the route has one, and does what its upstream says when it fails. */
import type { ScriptContext, ScriptFault, ScriptSlot } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { applyEdits, asBuffer, decodeJsonString, replaceRanges, scanBody } from '@model-gateway/json-bytes';
import type { Route } from '@model-gateway/routing';
import type { RequestContext } from '../request/context.ts';
import { traceScript } from '../spans.ts';
import { askRunner } from './ask-runner.ts';
import type { ScriptDeps } from './deps.ts';
import type { ScriptResult } from './script-result.ts';

/** The model's own script takes the place of its upstream's; undefined: none. */
export const scriptOf = ({ model, upstream }: Route, slot: ScriptSlot): string | undefined => model[slot] || upstream[slot] || undefined;

/** One script run of a request. */
export interface ScriptCall {
  script: string;
  slot: ScriptSlot;
  context: ScriptContext;
  body: Buffer;
  /** Judges what a script that ended well wants; a fault makes it one that failed. */
  judge?(result: ScriptResult): ScriptFault | null;
}

/** The request and the route that a script runs for. */
export interface ScriptSubject {
  request: RequestContext;
  route: Route;
}

/**
 * null: it failed, and the request goes on as it was. Rejects when a failed script ends the request: 502 `script_rejected`, 503 where nothing could
 * run it.
 */
export async function runScript(asked: ScriptCall, { request, route }: ScriptSubject, deps: ScriptDeps): Promise<ScriptResult | null> {
  const { script, slot, context, body } = asked;
  const facts = { request: request.job.id, model: route.model.name, upstream: route.upstream.name, slot };
  const reject = route.upstream.script_error_mode === 'log-and-reject';
  try {
    const asking = askRunner({ script, slot, context, owner: `${route.upstream.name}/${route.model.name}` }, body, deps);
    const { outcome, texts } = await (request.span ? traceScript(request.span, slot, asking) : asking);
    const made = outcome.fault ? null : keepStream(body, asBuffer(replaceRanges(body, outcome.places, texts)));
    const result = made && { body: made, changed: made !== body, useModel: outcome.use_model };
    const fault = outcome.fault ?? (result && asked.judge?.(result)) ?? null;
    if (!fault) return result;
    deps.logger.warn({ ...facts, ...fault, operations: outcome.operations, ms: outcome.execution_time_ms }, 'script failed');
    if (reject) throw new GatewayError(unavailable.has(fault.code) ? 'service_unavailable' : 'script_rejected');
    return null;
  } catch (cause) {
    const error = toGatewayError(cause);
    if (error.code === 'script_rejected' || (reject && error.code === 'service_unavailable')) throw error;
    deps.logger.warn({ ...facts, error: error.cause ?? error }, 'script did not run');
    if (reject) throw new GatewayError('service_unavailable', { cause: error });
    return null;
  }
}

/** Faults that say nothing of the script. */
const unavailable: ReadonlySet<string> = new Set(['ScriptRunnerBusy', 'ScriptRunnerUnavailable']);

const streamKey = ['stream'] as const;

/** Whether the reply is a stream was decided when the request arrived: a script does not change that, whatever it writes. */
function keepStream(before: Buffer, after: Buffer): Buffer {
  if (before === after) return after;
  const [asked, made] = [streamOf(before), streamOf(after)];
  if (asked === made) return after;
  const edited = applyEdits(after, [{ path: streamKey, value: asked === undefined ? undefined : (JSON.parse(asked) as unknown), add: true }]);
  return Buffer.from(edited.buffer, edited.byteOffset, edited.byteLength);
}

/** The text of the top-level value; undefined when there is none. */
function streamOf(body: Buffer): string | undefined {
  const scan = scanBody(body, { keys: streamKey, maxDepth: 512, maxNodes: Number.POSITIVE_INFINITY });
  const place = scan.ok ? scan.values.stream : undefined;
  if (!place) return undefined;
  return place.kind === 'string' ? JSON.stringify(decodeJsonString(body, place.start, place.end)) : body.toString('utf8', place.start, place.end);
}
