/** A request as it reaches a model, without any I/O: read, fitted and written anew, or edited in place, and normalised on both ways. */
import type { ProtocolId } from '@model-gateway/contracts';
import { applyEdits, type Edit } from '@model-gateway/json-bytes';
import { bridgeTools, findProtocol, fitToModel, plainToolRules, repairCalls, type Target } from '../../src/index.ts';
import { writeContext } from '../laws/harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read freely; a wrong guess shows as a failed comparison.
type Json = any;

export interface Reached {
  body: Json;
  /** `dropped user`, as the receipt says it. */
  losses: string[];
}

export function reach(from: ProtocolId, to: ProtocolId, model: string, sent: object, more: Partial<Target> = {}): Reached {
  const client = findProtocol(from)?.client;
  const upstream = findProtocol(to)?.upstream;
  if (!client || !upstream) throw new Error(`nobody speaks ${from} to ${to}`);
  const target: Target = { baseUrl: 'https://upstream.test', directPath: false, upstreamModelId: model, neutralHeaders: false, extraConfig: null, ...more };
  const context = writeContext(false, target);
  const text = JSON.stringify(sent);
  const described = (losses: readonly { action: string; field: string }[]): string[] => losses.map(({ action, field }) => `${action} ${field}`);
  if (upstream.verbatim && (upstream.passesVerbatim?.(from, target, 'generate') ?? from === to)) {
    const passed = upstream.verbatim.requestEdits({ ...context, contains: (part) => text.includes(part), parse: () => JSON.parse(text) as Json });
    const normalized = upstream.normalize?.((key) => (JSON.parse(text) as Json)[key], context);
    const isWithin = (edit: Edit): boolean => passed.edits.some((earlier) => earlier.path.every((step, at) => edit.path[at] === step));
    const edits = [...passed.edits, ...(normalized?.edits ?? []).filter((edit) => !isWithin(edit))];
    return { body: JSON.parse(applyEdits(text, edits)), losses: described([...passed.losses, ...(normalized?.losses ?? [])]) };
  }
  const read = client.readRequest(JSON.parse(text), { path: '', operation: 'generate', model: 'm', streamForm: 'sse', headers: {} });
  const fitted = fitToModel(read.conversation, target, upstream);
  const repaired = repairCalls(fitted?.conversation ?? read.conversation);
  const asked = repaired?.conversation ?? fitted?.conversation ?? read.conversation;
  const bridged = bridgeTools(asked, upstream.toolRules?.(target) ?? plainToolRules);
  const written = upstream.writeRequest(bridged?.conversation ?? asked, context);
  const losses = [read.losses, fitted?.losses ?? [], repaired?.losses ?? [], bridged?.losses ?? [], written.losses].flat();
  return { body: JSON.parse(JSON.stringify(written.body)), losses: described(losses) };
}
