/** What must change in the bytes of a messages caller that pass to the same vendor's models on this host; every other byte stays. */
import type { Edit } from '@model-gateway/json-bytes';
import { beta, refuseStoredTurns } from '../../beta/index.ts';
import type { UpstreamAdapter, VerbatimReply, VerbatimReplyContext, VerbatimRequestContext, VerbatimRules } from '../../contract/index.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { allowedFlags } from './feature-flags.ts';
import { absentTools, absentToolWords, refusedKeys, unreadableSources, version } from './messages-body.ts';
import { metricsKey } from './read-response.ts';

const messages = beta.upstream?.verbatim as NonNullable<UpstreamAdapter['verbatim']>;
/** Refused unless their flag is on. */
const flagged = [
  { key: 'context_management', flag: 'context-management-2025-06-27' },
  { key: 'safeguards', flag: 'dangerous-tool-use-2026-09-03' },
];

function requestEdits(context: VerbatimRequestContext): ReturnType<VerbatimRules['requestEdits']> {
  if (context.contains('"thread"')) refuseStoredTurns(context.parse());
  const inner = messages.requestEdits(context);
  const losses = new Losses();
  for (const loss of inner.losses) losses.add(loss.field, loss.action, loss.detail);
  const flags = readFlags(context, losses);
  const refused: string[] = [...refusedKeys, ...flagged.filter(({ flag }) => !flags.includes(flag)).map(({ key }) => key)];
  const edits: Edit[] = [
    ...inner.edits.filter(({ path }) => !(path.length === 1 && path[0] === 'model')),
    { path: ['anthropic_version'], value: version, add: true },
    ...(flags.length > 0 ? [{ path: ['anthropic_beta'], value: flags, add: true }] : context.contains('"anthropic_beta"') ? [remove('anthropic_beta')] : []),
    ...refused.flatMap((key) => (context.contains(`"${key}"`) ? removal(key, context, losses) : [])),
  ];
  if (absentToolWords.some((word) => context.contains(word))) edits.push(...toolEdits(context, losses));
  if (context.contains('"url"') || context.contains('"file"')) {
    for (const { path, note } of unreadableSources(context.parse())) {
      losses.add('media', 'downgraded', 'media by address cannot be opened by this host and was replaced by a note');
      edits.push({ path, value: note });
    }
  }
  return { edits, losses: losses.list };
}

/** Tools that the host does not run go, and the choice of one that went; the list goes with its last one. */
function toolEdits(context: VerbatimRequestContext, losses: Losses): Edit[] {
  const body = context.parse();
  const { places, choosesOne } = absentTools(body);
  if (places.length === 0) return [];
  losses.add('tools', 'dropped', 'tools of the vendor that this host does not run');
  const all = places.length === asArray(own(body, 'tools'))?.length;
  const choice = choosesOne && own(body, 'tool_choice') !== undefined ? [remove('tool_choice')] : [];
  return [...(all ? [remove('tools')] : places.map((place): Edit => ({ path: ['tools', place], value: undefined }))), ...choice];
}

const remove = (key: string): Edit => ({ path: [key], value: undefined });

/** Model and stream are said in the address: no loss. A key of that name deeper inside is none of ours. */
function removal(key: string, context: VerbatimRequestContext, losses: Losses): Edit[] {
  if (key === 'model' || key === 'stream') return [remove(key)];
  if (own(context.parse(), key) === undefined) return [];
  losses.add(key, 'dropped', 'this host refuses it');
  return [remove(key)];
}

/** From the header, and from a body that was written for this host. */
function readFlags(context: VerbatimRequestContext, losses: Losses): string[] {
  const header = context.clientHeaders?.['anthropic-beta'] || context.clientHeaders?.['beta-beta'] || '';
  const inBody = context.contains('"anthropic_beta"') ? (asArray(own(context.parse(), 'anthropic_beta')) ?? []) : [];
  const { kept, dropped } = allowedFlags([...header.split(','), ...inBody.flatMap((flag) => asString(flag) ?? [])], context.target);
  if (dropped) losses.add('anthropic_beta', 'dropped', 'feature flags that this host does not know');
  return kept;
}

function createReply(context: VerbatimReplyContext): VerbatimReply {
  const inner = messages.createReply(context);
  const withoutMetrics = (json: unknown, edits: Edit[]): Edit[] => (own(json, metricsKey) === undefined ? edits : [...edits, remove(metricsKey)]);
  return {
    record(record) {
      // The host's own messages are not events of the caller's protocol.
      if (asString(own(record.json, 'type')) === undefined) return 'drop';
      const edits = inner.record(record);
      return edits === 'drop' ? edits : withoutMetrics(record.json, edits);
    },
    whole: (body) => withoutMetrics(body, inner.whole(body)),
  };
}

export const verbatim: VerbatimRules = { requestEdits, createReply };
