/** The official SDKs, unmodified, behind one small face: each client protocol of the gateway is asked the same things in its own SDK's words. */
import type { TestGateway } from './gateway.ts';
import { startChatCompletions } from './sdks/chat-completions.ts';
import { startGenerateContent } from './sdks/generate-content.ts';
import { startMessages } from './sdks/messages.ts';
import { startResponses } from './sdks/responses.ts';
import type { Asked, SdkChat, SdkOptions } from './sdks/sdk-chat.ts';

export type * from './sdks/sdk-chat.ts';

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
