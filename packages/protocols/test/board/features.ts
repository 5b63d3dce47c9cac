/** The features of the board: what is asked for, what is answered, and what of it must be there on the other side. */
import type { Message } from '../../src/index.ts';
import { meaningOf } from '../laws/harness.ts';
import { askerOf, historyOfOne, historyOfTwo, pdf, png, traces } from './asks.ts';
import { type Asked, ask, type Pair } from './cross.ts';
import { type Exchange, judge, nothing, type Verdict } from './judge.ts';
import { call, citedDocument, citedPage, citedReply, documentReply, reply, type Said, text, thinking } from './replies.ts';

export interface Feature {
  name: string;
  /** A model that takes media is asked where a protocol has several kinds. */
  media?: true;
  perform(pair: Pair): Verdict;
}

type Asks = ReturnType<typeof askerOf>;
const both = ['streamed', 'whole'] as const;
const plainAnswer = [text('Rivers flow, 你好 to the sea.')];

/** One exchange of text both ways around what makes the feature. */
const exchange =
  (make: (asks: Asks, pair: Pair) => Partial<Exchange> & Pick<Exchange, 'sent'>) =>
  (pair: Pair): Verdict => {
    const asks = askerOf(pair.client.id);
    return judge(pair, { without: asks.text(), traces: [], forms: both, ...answering(plainAnswer), ...make(asks, pair) });
  };

/** The blocks as the answer, all of which the caller must get: words, thinking, and calls with their arguments. */
function answering(blocks: readonly Said[]): Pick<Exchange, 'answer' | 'missed'> {
  const wanted = {
    text: textsOf(blocks, 'text'),
    thinking: textsOf(blocks, 'thinking'),
    calls: blocks.flatMap(({ start, text = '{}' }) => (start.type === 'tool-call' ? [{ name: start.name, arguments: JSON.parse(text) as unknown }] : [])),
  };
  return {
    answer: () => reply(blocks, wanted.calls.length > 0 ? 'tool-calls' : 'stop'),
    missed: ({ message }) => differences(wanted, message),
  };
}

const textsOf = (blocks: readonly Said[], kind: string): string => blocks.flatMap(({ start, text = '' }) => (start.type === kind ? [text] : [])).join('');

function differences(wanted: { text: string; thinking: string; calls: unknown[] }, message: Message): string[] {
  const got = meaningOf(message);
  return (['text', 'thinking', 'calls'] as const)
    .filter((name) => JSON.stringify(got[name]) !== JSON.stringify(wanted[name]))
    .map((name) => `the caller gets ${name} ${JSON.stringify(got[name])} for ${JSON.stringify(wanted[name])}`);
}

const capital = '{"capital_city":"Paris"}';
/** The answer as the upstream gives it when a schema was asked for by other means: as a forced call, or in a code fence. */
function structuredAnswer({ emulation }: Asked): ReturnType<typeof reply> {
  if (!emulation) return reply([text(capital)]);
  if (emulation.tool === undefined) return reply([text(`\`\`\`json\n${capital}\n\`\`\``)]);
  return reply([{ start: { type: 'tool-call', id: 'call_1', name: emulation.tool }, text: capital }], 'tool-calls');
}

/** What counters answer, by upstream protocol; who is not here has none. */
const counts: Readonly<Record<string, object>> = {
  alpha_response: { object: 'response.input_tokens', input_tokens: 17 },
  beta: { input_tokens: 17 },
  gamma: { totalTokens: 17 },
  cloudhost_converse: { inputTokens: 17 },
  cloudhost_invoke: { inputTokens: 17 },
  delta: { usage: { input_tokens: 17 } },
};

const canCount = ({ client }: Pair): boolean =>
  client.client.routes.some((route) => ['', 'm:countTokens'].some((rest) => route.match(rest, new URLSearchParams(), {})?.operation === 'count-tokens'));

/** With what it holds in base64: a host's counter takes a whole body as bytes. */
const textOf = (body: string): string => body + body.replaceAll(/"([\w+/=]{40,})"/g, (_, bytes: string) => Buffer.from(bytes, 'base64').toString('utf8'));

function countTokens(pair: Pair): Verdict {
  if (!canCount(pair)) return nothing;
  const { upstream, target, id } = pair.upstream;
  const described = JSON.stringify(pair.client.client.writeTokenCount(17)).includes('17') ? [] : ['the caller is not told the count'];
  if (!upstream.countsTokens)
    return { word: 'emulated', because: ['tokens: the gateway counts them with the tokenizer of the model’s family'], undeclared: described };
  const asked = ask(pair, askerOf(pair.client.id).text(), 'count-tokens');
  const { url } = upstream.request({ target, operation: 'count-tokens', stream: false });
  const undeclared = [
    ...described,
    ...(url.startsWith(target.baseUrl) && textOf(asked.text).includes(traces.text[0]!) ? [] : ['the counter is not asked for this text']),
    ...(upstream.readTokenCount(counts[id]) === 17 ? [] : ['the count is not understood']),
  ];
  return { word: 'carried', because: [], undeclared };
}

export const features: readonly Feature[] = [
  { name: 'text', perform: exchange((asks) => ({ sent: asks.text(), without: null, traces: traces.text, forms: ['whole'] })) },
  { name: 'stream', perform: exchange((asks) => ({ sent: asks.text(), traces: traces.text, forms: ['streamed'] })) },
  {
    name: 'tools',
    perform: exchange((asks) => ({ sent: asks.tools(historyOfOne), traces: traces.one, ...answering([text('Look: '), call('call_9', { place: 'Rome' })]) })),
  },
  {
    name: 'parallel tools',
    perform: exchange((asks) => ({
      sent: asks.tools(historyOfTwo),
      without: asks.tools(historyOfOne),
      traces: traces.two,
      ...answering([call('call_8', { place: 'Rome' }), call('call_9', { place: 'Bern' })]),
    })),
  },
  { name: 'images', media: true, perform: exchange((asks) => ({ sent: asks.image(), traces: [png] })) },
  { name: 'PDF', media: true, perform: exchange((asks) => ({ sent: asks.document(), traces: [pdf] })) },
  {
    name: 'thinking',
    perform: exchange((asks) => ({
      sent: asks.thinking(),
      traces: [/thinking|reasoning|effort/i],
      ...answering([thinking('Rivers, rivers …'), text('They flow.')]),
    })),
  },
  {
    name: 'structured output',
    perform: exchange((asks) => ({ sent: asks.structured(), traces: ['capital_city'], ...answering([text(capital)]), answer: structuredAnswer })),
  },
  {
    name: 'caching',
    perform: exchange((asks) => ({
      sent: asks.marked() ?? asks.text(),
      traces: asks.marked() ? [/cache_control|cachePoint/] : [],
      forms: ['whole'],
      marks: true,
      missed: ({ message }) => (message.usage.cacheRead === 40 ? [] : ['the caller is not told what came from the cache']),
    })),
  },
  {
    name: 'citations',
    perform: exchange((asks, { upstream }) => {
      const citing = asks.citing();
      const cited = citing && documentReply(upstream.id);
      const blocks = cited ?? citedReply(upstream.id);
      return {
        sent: citing ?? asks.text(),
        without: citing ? asks.document() : asks.text(),
        traces: citing ? [/"citations":\{"enabled":true\}/] : [],
        forms: ['streamed'],
        answer: () => blocks && reply(blocks),
        missed: (received) => (received.text.includes(cited ? citedDocument : citedPage) ? [] : ['the caller does not get the page that is cited']),
      };
    }),
  },
  { name: 'count tokens', perform: countTokens },
];
