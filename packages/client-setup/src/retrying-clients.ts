/** Clients that repeat a turn by themselves when the connection of its stream breaks, and that take an ending in the protocol's own words for the end. */

interface RetryingClient {
  name: string;
  /** Of its `User-Agent`. */
  userAgent: RegExp;
  /** How it is known. */
  source: string;
}

/** Each was seen to go on by itself after a cut, in the version that `tests/agents/agents.ts` pins. */
export const retryingClients: readonly RetryingClient[] = [
  { name: 'Codex', userAgent: /^codex[_-]/i, source: 'retries a stream up to stream_max_retries (5) times' },
  { name: 'OpenCode', userAgent: /\bopencode\//i, source: 'its session loop repeats a turn after a network error' },
];

/** Whether the client with this `User-Agent` is known to repeat the request when its stream breaks off. */
export const retriesBrokenStreams = (userAgent: string): boolean => retryingClients.some((client) => client.userAgent.test(userAgent));
