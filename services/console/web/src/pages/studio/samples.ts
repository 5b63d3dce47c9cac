/** Bodies to begin with: one of each client protocol, with and without tools, and a reply. */
import { type PlaygroundDialect, type PlaygroundRequest, playgroundDialects } from '@model-gateway/protocols/playground';

export const sampleKinds = ['words', 'tools', 'reply'] as const;
export type SampleKind = (typeof sampleKinds)[number];

/** Which built-in sample the studio shows. */
export interface Sample {
  protocol: string;
  kind: SampleKind;
}

const model = 'example-model';

const request: PlaygroundRequest = {
  model,
  system: 'You are a helpful assistant.',
  turns: [{ role: 'user', text: 'What is the weather in Berlin?', images: [] }],
  tools: [],
  maxTokens: 1024,
  temperature: 0.7,
  stream: false,
};

const tools: PlaygroundRequest['tools'] = [
  {
    name: 'get_weather',
    description: 'The current weather of a place.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];

const makers: Readonly<Record<SampleKind, (dialect: PlaygroundDialect) => Record<string, unknown>>> = {
  words: (dialect) => dialect.body(request),
  tools: (dialect) => dialect.body({ ...request, tools }),
  reply: (dialect) => dialect.sampleReply('It is 21 °C and sunny in Berlin.', model),
};

export const firstProtocol: string = playgroundDialects[0]!.id;

/** As text for an editor; '' for a protocol that no client speaks. */
export function sampleText({ protocol, kind }: Sample): string {
  const dialect = playgroundDialects.find(({ id }) => id === protocol);
  return dialect ? JSON.stringify(makers[kind](dialect), null, 2) : '';
}

/** For a list: the key of each sample by protocol. */
export const sampleKey = ({ protocol, kind }: Sample): string => `${protocol} ${kind}`;

export function readSampleKey(key: string): Sample {
  const [protocol = '', kind = ''] = key.split(' ');
  return { protocol, kind: sampleKinds.find((one) => one === kind) ?? 'words' };
}
