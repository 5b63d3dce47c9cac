/** The shapes that this protocol's writers print. What is read is never trusted to have them (see kit/read.ts). */

export interface WireImage {
  format: 'png' | 'jpeg' | 'gif' | 'webp';
  /** Standard base64. */
  source: { bytes: string };
}

/** Result of a tool call, part of the user's turn. */
export interface WireToolResult {
  toolUseId: string;
  status: 'success' | 'error';
  content: ({ text: string } | { json: unknown })[];
}

/** Tool declaration. */
export interface WireTool {
  toolSpecification: { name: string; description: string; inputSchema: { json: unknown } };
}

/** Turn of the user. */
export interface WireUser {
  content: string;
  origin: string;
  /** The current message's alone. */
  modelId?: string;
  images?: WireImage[];
  userInputMessageContext?: { toolResults?: WireToolResult[]; tools?: WireTool[] };
}

/** Turn of the assistant. */
export interface WireAssistant {
  content: string;
  toolUses?: { toolUseId: string; name: string; input: unknown }[];
  reasoningContent?: { reasoningText: { text: string; signature?: string } } | { redactedContent: string };
}

/** `history` alternates, begins with a user and ends with an assistant. */
export type WireEntry = { userInputMessage: WireUser } | { assistantResponseMessage: WireAssistant };

/** Body of `generateAssistantResponse`. */
export interface WireRequest {
  conversationState: {
    conversationId: string;
    history: WireEntry[];
    currentMessage: { userInputMessage: WireUser };
    chatTriggerType: 'MANUAL';
    agentTaskType: 'vibe';
  };
  profileArn?: string;
  additionalModelRequestFields?: { output_config?: { effort: string }; thinking?: { type: 'adaptive' | 'disabled' }; max_tokens?: number };
}
