/** The official SDKs, unmodified, behind one small face: each client protocol of the gateway is asked the same things in its own SDK's words. */
import type { TestGateway } from './gateway.ts';
import { startChatCompletions } from './sdks/chat-completions.ts';
import { startGenerateContent } from './sdks/generate-content.ts';
import { startMessages } from './sdks/messages.ts';
import { startResponses } from './sdks/responses.ts';

export interface AskedTool {
  name: string;
  description: string;
  /** JSON schema of the arguments. */
  parameters: Record<string, unknown>;
}

export interface Asked {
  text: string;
  system?: string;
  tools?: AskedTool[];
  /** Base64 of a PNG. */
  image?: string;
  /** JSON schema that the reply must fit. */
  schema?: Record<string, unknown>;
  stop?: string[];
  maxTokens?: number;
  /** Ask for readable reasoning. */
  reasoning?: boolean;
}

export type Stop = 'stop' | 'length' | 'tools' | 'stop-sequence' | 'other';

/** What the SDK's caller got, in words common to all client protocols. */
export interface Said {
  text: string;
  /** Readable reasoning. */
  thinking: string;
  /** Signatures of reasoning, as the caller holds them. */
  signatures: string[];
  calls: { id: string; name: string; args: unknown }[];
  stop: Stop;
  /** All tokens the upstream read and wrote, reasoning and cached ones included. */
  usage: { input: number; output: number };
  model: string;
}

export interface Reaction {
  stream: boolean;
  /** Another model for this turn and its history. */
  model?: string;
  signal?: AbortSignal;
  /** Called at the first event of a stream. */
  onFirst?: () => void;
}

/** One conversation; keeps the SDK's own history. */
export interface SdkChat {
  /** Sends the history so far and adds the reply to it. */
  send(reaction: Reaction): Promise<Said>;
  /** Answers calls of the last reply: adds results to the history. */
  answer(results: readonly { id: string; name: string; output: string }[]): void;
  /** Adds a further user turn. */
  say(text: string): void;
}

export interface SdkOptions {
  url: string;
  key: string;
}

export type ClientProtocol = 'alpha' | 'alpha_response' | 'beta' | 'gamma';
/** The client protocols, and those that only upstreams speak. */
export type UpstreamProtocol = ClientProtocol | 'cloudhost_converse' | 'cloudhost_invoke';
export const clientProtocols = ['alpha', 'alpha_response', 'beta', 'gamma'] as const satisfies readonly ClientProtocol[];
export const upstreamProtocols = [...clientProtocols, 'cloudhost_converse', 'cloudhost_invoke'] as const satisfies readonly UpstreamProtocol[];

const starts: Record<ClientProtocol, (options: SdkOptions, model: string, asked: Asked) => SdkChat> = {
  alpha: startChatCompletions,
  alpha_response: startResponses,
  beta: startMessages,
  gamma: startGenerateContent,
};

export const startChat = (client: ClientProtocol, gateway: Pick<TestGateway, 'url' | 'key'>, model: string, asked: Asked): SdkChat =>
  starts[client]({ url: gateway.url, key: gateway.key }, model, asked);
