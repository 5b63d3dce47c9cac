/** The script over a whole reply of the upstream, before anything is read of it. */
import { type ChatEvent, foldEvents } from '@model-gateway/protocols';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import type { Prepared } from '../prepare.ts';
import type { FoldedTransform } from '../reply-transform/folded.ts';
import { responseContext, type UpstreamAnswer } from './context.ts';
import { runScript, scriptOf } from './run-script.ts';

const slot = 'response_transform';

const responseScript = (call: Call, { route }: Prepared): string | undefined => (call.job.stream ? undefined : scriptOf(route, slot));

/** The reply's bytes as the script leaves them; undefined: there is none, or the caller gets a stream, on which none runs. Rejects as `runScript` does. */
export function runResponseScript(
  call: Call,
  prepared: Prepared,
  body: Buffer,
  answer: UpstreamAnswer,
  translatorContext: TranslatorContext,
): Promise<Buffer> | undefined {
  const script = responseScript(call, prepared);
  return script === undefined ? undefined : run(script, call, prepared, body, answer, translatorContext);
}

async function run(
  script: string,
  call: Call,
  { route }: Prepared,
  body: Buffer,
  answer: UpstreamAnswer,
  translatorContext: TranslatorContext,
): Promise<Buffer> {
  const result = await runScript({ script, slot, context: responseContext(call, route, answer), body }, call, route, translatorContext);
  if (result?.changed) call.did('script-response');
  return result?.body ?? body;
}

/**
 * The caller's reply, gathered from an upstream that streamed it unasked: the script sees it as the upstream would have sent it whole, or, where its
 * protocol knows no whole replies, as the caller will. undefined: no script. Rejects as `runScript` does.
 */
export function runFoldedScript(
  call: Call,
  prepared: Prepared,
  folded: FoldedTransform,
  answer: UpstreamAnswer,
  translatorContext: TranslatorContext,
): Promise<string | Uint8Array> | undefined {
  const script = responseScript(call, prepared);
  return script === undefined ? undefined : runFolded(script, call, prepared, folded, answer, translatorContext);
}

async function runFolded(
  script: string,
  call: Call,
  prepared: Prepared,
  folded: FoldedTransform,
  answer: UpstreamAnswer,
  translatorContext: TranslatorContext,
): Promise<string | Uint8Array> {
  const printed = printAsUpstream(call, prepared, folded.events, translatorContext);
  if (!printed) return run(script, call, prepared, Buffer.from(folded.print()), answer, translatorContext);
  const made = await run(script, call, prepared, printed, answer, translatorContext);
  if (made === printed) return folded.print();
  const json: unknown = JSON.parse(made.toString('utf8'));
  const events = prepared.upstream.readWhole(json, prepared.route.target);
  if (!events.some(({ type }) => type === 'end')) throw new Error('what the response script made is no finished reply');
  return folded.whole(made, json, events);
}

/** Signatures stay as the upstream gave them: they are sealed when the reply is printed for the caller. */
function printAsUpstream({ job }: Call, { protocol, route }: Prepared, events: readonly ChatEvent[], translatorContext: TranslatorContext): Buffer | undefined {
  const written = protocol.client?.writeWhole(foldEvents(events), {
    requestId: job.id,
    model: route.target.upstreamModelId,
    createdAt: Math.floor(job.startedAt / 1000),
    streamForm: job.streamForm,
    mintId: translatorContext.mintId,
    sealSignature: (signature) => signature,
    inputEstimate: 0,
  });
  return written && Buffer.from(JSON.stringify(written.body), 'utf8');
}
