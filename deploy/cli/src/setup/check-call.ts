/** One small real call, as the client would make it, so that a wrong address, key or model shows at once. */
import { type Dialect, dialects, type ModelLimits, type SetupFacts } from '@model-gateway/client-setup';
import { ConfigError } from '@model-gateway/config';

const waitMs = 60_000;

/** A sentence on what came back. Throws ConfigError when the call did not succeed. */
export async function checkCall(dialect: Dialect, facts: SetupFacts): Promise<string> {
  const { url, headers, body } = dialects[dialect].call(facts, 'Say hello.');
  const began = performance.now();
  const response = await ask(url, { method: 'POST', headers, body: JSON.stringify(body), redirect: 'error', signal: AbortSignal.timeout(waitMs) });
  const text = await response.text();
  if (!response.ok) throw new ConfigError(`the checking call to ${url} was answered ${response.status}: ${messageOf(text)}`);
  return `Checked: ${facts.model} answered ${response.status} in ${Math.round(performance.now() - began)} ms.`;
}

interface ListedLimits {
  id: string;
  context_window?: number;
  max_input_tokens?: number;
  max_completion_tokens?: number;
}

/** A model that the key may use, from the gateway's model list. */
export interface GrantedModel {
  name: string;
  limits: ModelLimits;
}

/** The models that the key may use, in the order of the gateway's list. Throws ConfigError. */
export async function listModels({ baseUrl, key }: Pick<SetupFacts, 'baseUrl' | 'key'>): Promise<GrantedModel[]> {
  const response = await ask(`${baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` }, redirect: 'error', signal: AbortSignal.timeout(waitMs) });
  const text = await response.text();
  if (!response.ok) throw new ConfigError(`the list of models was answered ${response.status}: ${messageOf(text)}`);
  const { data } = JSON.parse(text) as { data: ListedLimits[] };
  return data.map(({ id, context_window, max_input_tokens, max_completion_tokens }) => ({
    name: id,
    limits: { context: context_window, input: max_input_tokens, output: max_completion_tokens },
  }));
}

/** Whether the key may use a tool of an MCP server. A gateway that does not say counts as one without tools. */
export async function hasTools({ baseUrl, key }: Pick<SetupFacts, 'baseUrl' | 'key'>): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    const response = await fetch(`${baseUrl}/mcp`, { method: 'POST', headers, body, redirect: 'error', signal: AbortSignal.timeout(waitMs) });
    const { result } = (await response.json()) as { result?: { tools?: { name: string }[] } };
    // The one that searches is always there.
    return (result?.tools ?? []).some(({ name }) => name !== 'search_tools');
  } catch {
    return false;
  }
}

async function ask(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (cause) {
    throw new ConfigError(`--base-url: nothing answers at ${new URL(url).origin}; accepted: the address of a running gateway`, { cause });
  }
}

/** Control characters of a stranger's text do not reach the terminal. */
function messageOf(text: string): string {
  let message = text;
  try {
    message = (JSON.parse(text) as { error?: { message?: string } }).error?.message ?? text;
  } catch {
    // Not JSON: a proxy's page. Its beginning says enough.
  }
  return message.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, 500);
}
