/** What suites ask of any SDK, and what they get back. */

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
