/** What each vendor refuses of a conversation, as far as order, ids and emptiness go. Each function names the faults of one upstream body. */

// biome-ignore lint/suspicious/noExplicitAny: wire bodies are walked freely.
type Any = any;
type Rule = (body: Any) => string[];

const plainName = /^[a-zA-Z0-9_-]{1,64}$/;
const isObject = (text: unknown): boolean => {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};
const isBlank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === '';
const repeats = (list: readonly unknown[]): boolean => new Set(list).size < list.length;

const chat: Rule = ({ messages }) => {
  const faults: string[] = [];
  let open: string[] = [];
  messages.forEach((message: Any, at: number) => {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) faults.push(`${at}: a result without its call`);
      open = open.filter((id) => id !== message.tool_call_id);
      if (typeof message.content !== 'string') faults.push(`${at}: a result that is no text`);
      return;
    }
    if (open.length > 0) faults.push(`${at}: stands between calls and their results`);
    open = (message.tool_calls ?? []).map(({ id }: Any) => id);
    if (repeats(open)) faults.push(`${at}: repeated ids`);
    if (open.some((id) => !id || id.length > 64)) faults.push(`${at}: an id that is refused`);
    for (const call of message.tool_calls ?? []) {
      if (!plainName.test(call.function.name)) faults.push(`${at}: a name that is refused`);
      if (!isObject(call.function.arguments)) faults.push(`${at}: arguments that are no object`);
    }
    if (Array.isArray(message.content) && message.content.length === 0) faults.push(`${at}: an empty list`);
    if (message.role === 'assistant' && !message.content && !message.tool_calls && !message.refusal && !message.reasoning_content && !message.reasoning_details)
      faults.push(`${at}: an empty answer`);
  });
  return faults;
};

const responses: Rule = ({ input }) => {
  const faults: string[] = [];
  const calls = new Map<string, boolean>();
  let reasoning = false;
  input.forEach((item: Any, at: number) => {
    if (reasoning && item.type !== 'reasoning' && item.type !== 'function_call' && item.role !== 'assistant')
      faults.push(`${at}: reasoning without what it led to`);
    reasoning = item.type === 'reasoning';
    if (item.type === 'function_call') {
      if (calls.has(item.call_id)) faults.push(`${at}: a repeated id`);
      if (!item.call_id || item.call_id.length > 64) faults.push(`${at}: an id that is refused`);
      if (!plainName.test(item.name)) faults.push(`${at}: a name that is refused`);
      if (!isObject(item.arguments)) faults.push(`${at}: arguments that are no object`);
      calls.set(item.call_id, false);
    } else if (item.type === 'function_call_output') {
      if (calls.get(item.call_id) !== false) faults.push(`${at}: a result without its call`);
      calls.set(item.call_id, true);
    } else if (item.role !== undefined) {
      const wanted = item.role === 'assistant' ? /^(?:output_text|refusal)$/ : /^input_/;
      if (!Array.isArray(item.content) || item.content.length === 0) faults.push(`${at}: a message without content`);
      else if (item.content.some(({ type }: Any) => !wanted.test(type))) faults.push(`${at}: content of the other side`);
    }
  });
  if (reasoning) faults.push('reasoning at the end');
  return faults;
};

const messages: Rule = (body) => {
  const faults: string[] = [];
  const seen = new Set<string>();
  const list: Any[] = body.messages;
  // Of nothing but blanks nothing is left.
  if (list.length > 0 && list[0]?.role !== 'user') faults.push('0: does not begin with the user');
  list.forEach(({ role, content }, at) => {
    if (content.length === 0) faults.push(`${at}: no content`);
    const results = content.filter(({ type }: Any) => type === 'tool_result').map((block: Any) => block.tool_use_id);
    const before = (list[at - 1]?.role === 'assistant' ? list[at - 1].content : []).filter(({ type }: Any) => type === 'tool_use').map(({ id }: Any) => id);
    if (role === 'user' && [...before].sort().join() !== [...results].sort().join()) faults.push(`${at}: results are not those of the calls before`);
    if (role !== 'user' && before.length > 0) faults.push(`${at}: stands between calls and their results`);
    if (content.slice(0, results.length).some(({ type }: Any) => type !== 'tool_result')) faults.push(`${at}: results do not come first`);
    for (const block of content) {
      if (block.type === 'text' && isBlank(block.text)) faults.push(`${at}: blank text`);
      if (block.type === 'thinking' && !block.signature) faults.push(`${at}: thinking without its proof`);
      if (block.type === 'tool_result' && (block.content ?? []).some((one: Any) => one.type === 'text' && isBlank(one.text)))
        faults.push(`${at}: blank result`);
      if (block.type !== 'tool_use') continue;
      if (seen.has(block.id)) faults.push(`${at}: a repeated id`);
      seen.add(block.id);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(block.id)) faults.push(`${at}: an id that is refused`);
      if (!plainName.test(block.name)) faults.push(`${at}: a name that is refused`);
    }
    if (role === 'assistant' && /thinking$/.test(content.at(-1)?.type)) faults.push(`${at}: ends in thinking`);
  });
  const last = list.at(-1)?.role === 'assistant' ? list.at(-1).content.at(-1) : undefined;
  if (last?.type === 'text' && last.text !== last.text.trimEnd()) faults.push('a begun reply that ends in blanks');
  const marks = JSON.stringify(body).split('"cache_control"').length - 1;
  if (marks > 4) faults.push(`${marks} cache marks`);
  return faults;
};

const contents: Rule = ({ contents: list }) => {
  const faults: string[] = [];
  list.forEach(({ role, parts }: Any, at: number) => {
    if (parts.length === 0) faults.push(`${at}: no parts`);
    if (at === 0 && role !== 'user') faults.push('0: does not begin with the user');
    if (list[at - 1]?.role === role) faults.push(`${at}: two contents of one side`);
    const calls = (list[at - 1]?.parts ?? []).flatMap(({ functionCall }: Any) => functionCall?.name ?? []);
    const results = parts.flatMap(({ functionResponse }: Any) => functionResponse?.name ?? []);
    if (role === 'user' && calls.join() !== results.join()) faults.push(`${at}: results are not those of the calls before, in their order`);
    for (const part of parts)
      if (part.functionCall && !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(part.functionCall.name)) faults.push(`${at}: a name that is refused`);
  });
  return faults;
};

const converse: Rule = ({ messages: list, toolConfig }) => {
  const faults: string[] = [];
  let tools = false;
  list.forEach(({ role, content }: Any, at: number) => {
    if (content.length === 0) faults.push(`${at}: no content`);
    if (role !== (at % 2 === 0 ? 'user' : 'assistant')) faults.push(`${at}: sides do not alternate`);
    const calls = (list[at - 1]?.content ?? []).flatMap(({ toolUse }: Any) => toolUse?.toolUseId ?? []);
    const results = content.flatMap(({ toolResult }: Any) => toolResult?.toolUseId ?? []);
    tools ||= results.length > 0 || content.some(({ toolUse }: Any) => toolUse);
    if (role === 'user' && [...calls].sort().join() !== [...results].sort().join()) faults.push(`${at}: results are not those of the calls before`);
    for (const block of content) {
      if ('text' in block && isBlank(block.text)) faults.push(`${at}: blank text`);
      if (block.toolUse && !plainName.test(block.toolUse.name)) faults.push(`${at}: a name that is refused`);
      if (block.toolUse && !/^[a-zA-Z0-9_-]{1,64}$/.test(block.toolUse.toolUseId)) faults.push(`${at}: an id that is refused`);
      if (block.toolResult?.content.length === 0) faults.push(`${at}: an empty result`);
    }
  });
  if (tools && !toolConfig) faults.push('no toolConfig');
  return faults;
};

export const rules: Readonly<Record<string, Rule>> = {
  alpha: chat,
  alpha_response: responses,
  beta: messages,
  gamma: contents,
  cloudhost_converse: converse,
  delta: ({ input }) => chat(input),
};
