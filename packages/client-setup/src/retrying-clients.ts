/** Clients that repeat a turn by themselves when a stream's connection breaks, and that take a regular protocol ending for the real end of the turn. */

interface RetryingClient {
  name: string;
  /** A pattern for its `User-Agent`. */
  userAgent: RegExp;
  /** How it is known. */
  source: string;
}

/** Each was seen to go on by itself after a cut, in the version that `tests/agents/agents.ts` pins (`tests/agents/breaks.test.ts`). */
export const retryingClients: readonly RetryingClient[] = [
  { name: 'Claude Code', userAgent: /^claude-cli\//i, source: 'sends the request again after a connection error inside a stream' },
  { name: 'Codex', userAgent: /^codex[_-]/i, source: 'retries a stream up to stream_max_retries (5) times' },
  // After a reset alone; an ending by MAX_TOKENS it takes for the end of the task, and exits with 0.
  { name: 'Gemini CLI', userAgent: /^GeminiCLI\b/i, source: 'its chat repeats a stream that ECONNRESET ended, up to 3 times' },
  { name: 'OpenCode', userAgent: /\bopencode\//i, source: 'its session loop repeats a turn after a network error' },
  // An ending by length they take for the end of the task, and exit with 0.
  { name: 'Kimi Code', userAgent: /^kimi-code-cli\//i, source: 'repeats a step after a connection error, on chat completions and messages' },
  { name: 'Pi', userAgent: /^pi\/\d/i, source: 'repeats a turn after a connection error, on all four client protocols' },
];

/** Whether the client with this `User-Agent` is known to repeat the request when its stream breaks off. */
export const retriesBrokenStreams = (userAgent: string): boolean => retryingClients.some((client) => client.userAgent.test(userAgent));
