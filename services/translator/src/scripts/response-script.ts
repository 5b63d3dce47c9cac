/** The script over a whole reply of the upstream, before anything is read of it. */
import { type ChatEvent, foldEvents } from '@model-gateway/protocols';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { FoldedTransform } from '../reply-transform/folded.ts';
import type { CurrentRequest } from '../request/current.ts';
import { responseContext, type UpstreamAnswer } from './context.ts';
import type { ScriptDeps } from './deps.ts';
import { runScript, scriptOf } from './run-script.ts';

const slot = 'response_transform';

/** What a script over a reply needs to know of its request. */
export interface ResponseScriptContext extends Pick<CurrentRequest, 'request' | 'record'> {
  readonly upstreamRequest: UpstreamRequest;
  readonly answer: UpstreamAnswer;
  readonly scripts: ScriptDeps;
  mintId(prefix: string): string;
}

const responseScript = ({ request, upstreamRequest }: ResponseScriptContext): string | undefined =>
  request.job.stream ? undefined : scriptOf(upstreamRequest.target.route, slot);

/** The reply's bytes as the script leaves them; undefined: there is none, or the caller gets a stream, on which none runs. Rejects as `runScript` does. */
export function runResponseScript(context: ResponseScriptContext, body: Buffer): Promise<Buffer> | undefined {
  const script = responseScript(context);
  return script === undefined ? undefined : run(context, script, body);
}

async function run({ request, record, upstreamRequest, answer, scripts }: ResponseScriptContext, script: string, body: Buffer): Promise<Buffer> {
  const { route } = upstreamRequest.target;
  const result = await runScript({ script, slot, context: responseContext(request, route, answer), body }, { request, route }, scripts);
  if (result?.changed) record.addStep('script-response');
  return result?.body ?? body;
}

/**
 * The caller's reply, gathered from an upstream that streamed it unasked: the script sees it as the upstream would have sent it whole, or, where its
 * protocol knows no whole replies, as the caller will. undefined: no script. Rejects as `runScript` does.
 */
export function runFoldedScript(context: ResponseScriptContext, folded: FoldedTransform): Promise<string | Uint8Array | undefined> | undefined {
  const script = responseScript(context);
  return script === undefined ? undefined : runFolded(context, script, folded);
}

async function runFolded(context: ResponseScriptContext, script: string, folded: FoldedTransform): Promise<string | Uint8Array | undefined> {
  const printed = printAsUpstream(context, folded.events);
  if (!printed) {
    const whole = folded.print();
    return whole === undefined ? undefined : run(context, script, Buffer.from(whole));
  }
  const made = await run(context, script, printed);
  if (made === printed) return folded.print();
  const json: unknown = JSON.parse(made.toString('utf8'));
  const { adapter, route } = context.upstreamRequest.target;
  const events = adapter.readWhole(json, route.target);
  if (!events.some(({ type }) => type === 'end')) throw new Error('the response script did not return a complete reply');
  return folded.whole(made, json, events);
}

/** Signatures stay as the upstream gave them: they are sealed when the reply is printed for the caller. */
function printAsUpstream({ request: { job }, upstreamRequest, mintId }: ResponseScriptContext, events: readonly ChatEvent[]): Buffer | undefined {
  const { protocol, route } = upstreamRequest.target;
  const written = protocol.client?.writeWhole(foldEvents(events), {
    requestId: job.id,
    model: route.target.upstreamModelId,
    createdAt: Math.floor(job.startedAt / 1000),
    now: () => Math.floor(Date.now() / 1000),
    streamForm: job.streamForm,
    mintId,
    sealSignature: (signature) => signature,
    inputEstimate: 0,
  });
  return written && Buffer.from(JSON.stringify(written.body), 'utf8');
}
