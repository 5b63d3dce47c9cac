/** Generate-content in the playground. */
import {
  at,
  errorPiece,
  finishPiece,
  list,
  type PlaygroundDialect,
  type PlaygroundPiece,
  type PlaygroundTurn,
  startOf,
  text,
  textPiece,
  usagePiece,
  wordsOf,
} from '../../playground/dialect.ts';

const content = ({ role, text: words, images }: PlaygroundTurn) => ({
  role: role === 'user' ? 'user' : 'model',
  parts: [...(words ? [{ text: words }] : []), ...images.map(({ mediaType, base64 }) => ({ inlineData: { mimeType: mediaType, data: base64 } }))],
});

function readPart(part: unknown, place: number): PlaygroundPiece[] {
  const name = text(at(part, 'functionCall', 'name'));
  // Calls come whole: each is one of its own.
  if (name)
    return [
      { kind: 'tool', id: `${text(at(part, 'functionCall', 'id')) || name} ${place}`, name, arguments: JSON.stringify(at(part, 'functionCall', 'args') ?? {}) },
    ];
  return textPiece(at(part, 'thought') === true ? 'thinking' : 'text', at(part, 'text'));
}

const read = (value: unknown): PlaygroundPiece[] => [
  ...errorPiece(value),
  ...list(at(value, 'candidates', 0, 'content', 'parts')).flatMap(readPart),
  ...finishPiece(at(value, 'candidates', 0, 'finishReason')),
  ...usagePiece(at(value, 'usageMetadata', 'promptTokenCount'), at(value, 'usageMetadata', 'candidatesTokenCount')),
];

export const playground: PlaygroundDialect = {
  id: 'gamma',
  path: ({ model, stream }) => `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  headers: (key) => ({ 'x-goog-api-key': key }),
  body: ({ system, turns, tools, maxTokens, temperature }) => ({
    ...(system && { systemInstruction: { parts: [{ text: system }] } }),
    contents: turns.map(content),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools }] }),
    generationConfig: { maxOutputTokens: maxTokens, ...(temperature !== null && { temperature }) },
  }),
  readEvent: read,
  readWhole: read,
  readRequest: (body) => {
    const settings = at(body, 'generationConfig') ?? at(body, 'generation_config');
    const turns = list(at(body, 'contents')).map((one) => ({ role: at(one, 'role'), words: wordsOf(at(one, 'parts')) }));
    const system = wordsOf(at(body, 'systemInstruction', 'parts') ?? at(body, 'system_instruction', 'parts'));
    return startOf(system, turns, at(settings, 'maxOutputTokens') ?? at(settings, 'max_output_tokens'), at(settings, 'temperature'));
  },
  sampleReply: (words, model) => ({
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: words }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 24, candidatesTokenCount: 9, totalTokenCount: 33 },
    modelVersion: model,
  }),
};
