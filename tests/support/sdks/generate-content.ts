/** Generate content through `@google/genai`. */
import { type Content, type GenerateContentParameters, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai';
import type { Asked, Reaction, Said, SdkChat, SdkOptions, Stop } from './sdk-chat.ts';

/** `fetch` is given because the SDK looks for a dispatcher on a global object that jest's sandbox does not share. */
export const genaiClient = ({ url, key }: SdkOptions): GoogleGenAI => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url, fetch: globalThis.fetch } });

export function startGenerateContent(options: SdkOptions, model: string, asked: Asked): SdkChat {
  const client = genaiClient(options);
  const contents: Content[] = [
    {
      role: 'user',
      parts: [{ text: asked.text }, ...(asked.image === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data: asked.image } }])],
    },
  ];
  return {
    async send(reaction) {
      const replies = await ask(client, { model: reaction.model ?? model, contents, config: config(asked, reaction) }, reaction);
      const parts = joinTexts(replies.flatMap((reply) => reply.candidates?.[0]?.content?.parts ?? []));
      contents.push({ role: 'model', parts });
      return said(replies, parts);
    },
    answer: (results) =>
      void contents.push({
        role: 'user',
        parts: results.map(({ id, name, output }) => ({ functionResponse: { ...(id !== '' && { id }), name, response: { output } } })),
      }),
    say: (text) => void contents.push({ role: 'user', parts: [{ text }] }),
  };
}

function config(asked: Asked, { signal }: Reaction): GenerateContentParameters['config'] {
  return {
    ...(signal && { abortSignal: signal }),
    ...(asked.system !== undefined && { systemInstruction: asked.system }),
    ...(asked.tools && {
      tools: [{ functionDeclarations: asked.tools.map(({ parameters, ...tool }) => ({ ...tool, parametersJsonSchema: parameters })) }],
    }),
    ...(asked.schema && { responseMimeType: 'application/json', responseJsonSchema: asked.schema }),
    ...(asked.stop && { stopSequences: asked.stop }),
    ...(asked.maxTokens !== undefined && { maxOutputTokens: asked.maxTokens }),
    ...(asked.reasoning && { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } }),
  };
}

async function ask(client: GoogleGenAI, params: GenerateContentParameters, { stream, onFirst }: Reaction): Promise<GenerateContentResponse[]> {
  if (!stream) return [await client.models.generateContent(params)];
  const replies: GenerateContentResponse[] = [];
  for await (const reply of await client.models.generateContentStream(params)) {
    if (replies.length === 0) onFirst?.();
    replies.push(reply);
  }
  return replies;
}

/** As the SDK's own chat does: neighbouring plain texts become one part, all else stays. */
function joinTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const plain = (one: Part | undefined) => one?.text !== undefined && one.thoughtSignature === undefined;
    if (plain(part) && plain(last) && (last?.thought ?? false) === (part.thought ?? false)) last!.text += part.text ?? '';
    else joined.push({ ...part });
  }
  return joined;
}

function said(replies: readonly GenerateContentResponse[], parts: readonly Part[]): Said {
  const finish = replies.map((reply) => reply.candidates?.[0]?.finishReason).findLast((reason) => reason !== undefined);
  const usage = replies.map((reply) => reply.usageMetadata).findLast((one) => one !== undefined);
  const calls = parts.flatMap((part) => part.functionCall ?? []);
  const stop: Stop = finish === 'MAX_TOKENS' ? 'length' : finish !== 'STOP' ? 'other' : calls.length > 0 ? 'tools' : 'stop';
  const textOf = (thought: boolean) => parts.map((part) => ((part.thought ?? false) === thought ? (part.text ?? '') : '')).join('');
  return {
    text: textOf(false),
    thinking: textOf(true),
    signatures: parts.flatMap((part) => (part.thoughtSignature ? [part.thoughtSignature] : [])),
    calls: calls.map(({ id, name, args }) => ({ id: id ?? '', name: name ?? '', args: args ?? {} })),
    stop,
    usage: { input: usage?.promptTokenCount ?? -1, output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0) },
    model: replies.at(-1)?.modelVersion ?? '',
  };
}
