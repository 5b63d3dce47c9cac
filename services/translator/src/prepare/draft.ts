/** One upstream request in the making: what the steps of `order.ts` hand on to one another. */
import type { Snapshot } from '@model-gateway/contracts';
import { applyEdits, type Edit, type KnownPlaces } from '@model-gateway/json-bytes';
import type { Conversation, ReplyEmulation, ToolBridge, UpstreamAdapter, VerbatimRequestContext, VerbatimRules } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';

/** The upstream request while the preparation steps build it. */
export interface Draft {
  readonly call: Call;
  readonly route: Route;
  readonly translatorContext: TranslatorContext;
  readonly upstream: UpstreamAdapter;
  /** Verbatim rules, when both sides speak this protocol: the request is the caller's bytes with `edits`. null: it is `body`. */
  readonly verbatim: VerbatimRules | null;
  readonly context: VerbatimRequestContext;
  /** Translated: what the caller asks, where a step changed it; absent: as it was read. */
  conversation?: Conversation;
  /** Verbatim: what changes in the caller's bytes, all at once at the end. */
  edits: Edit[];
  /** Verbatim: where a step found the top-level values that `edits` may name. */
  places?: KnownPlaces | undefined;
  /** Translated: the JSON value that will be printed. Ours alone, so steps may change it. */
  body: unknown;
  /** The request as a step printed it: it stands for `body`, and for the caller's bytes with their edits. Later `edits` are made in it. */
  printed: Buffer | null;
  /** Where a script after the translation sends the request on to. */
  rerouteTo?: string;
  /** What the reply needs, because the request asks for something by other means. */
  emulation: ReplyEmulation | undefined;
  /** The caller's schemas of tools that are sent with wider ones. */
  relaxedToolSchemas: ReadonlyMap<string, unknown> | undefined;
  /** Puts names and kinds of tools back in the reply's calls, where the request changed them. */
  bridge: ToolBridge | undefined;
}

/** The body as it would be sent now. */
export function printDraft({ call, verbatim, edits, places = call.places, body, printed }: Draft): Buffer {
  if (!printed && !verbatim) return Buffer.from(JSON.stringify(body), 'utf8');
  const source = printed ?? call.body;
  if (edits.length === 0) return source;
  const bytes = applyEdits(source, edits, printed ? undefined : places);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A printed body that is not the caller's own becomes a value again, for a step that changes it. */
export function openDraft(draft: Draft): void {
  if (!draft.printed) return;
  draft.body = JSON.parse(printDraft(draft).toString('utf8')) as unknown;
  draft.printed = null;
  draft.edits = [];
}

/** What decides, before anything is translated, whether the request goes to this route at all. */
export interface RouteChoice {
  readonly call: Call;
  readonly route: Route;
  readonly snapshot: Snapshot;
  readonly translatorContext: TranslatorContext;
}

/** Returns the name of the model or load balancer to reroute to; undefined: no reroute. A promise only where it has to wait. */
export interface RouteStep {
  readonly name: 'switch-route' | 'script-before';
  choose(choice: RouteChoice): undefined | string | Promise<undefined | string>;
}

/** A step that has nothing to wait for returns nothing: a request that needs no waiting makes no promise. */
export interface Step {
  readonly name: 'fetch-media' | 'translate' | 'normalize' | 'body-rules' | 'cache-injection' | 'script-after' | 'retarget';
  run(draft: Draft): undefined | Promise<undefined>;
}
