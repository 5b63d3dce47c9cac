/** Offers a vendor's hosted tools as functions, to an upstream that has none of them. */
import type { Loss } from '@model-gateway/contracts';
import type { Conversation, Tool, ToolChoice } from '../chat/conversation.ts';
import type { HostedKind, HostedTool, HostedToolsCodec } from '../contract/hosted-tools.ts';
import { Losses } from './losses.ts';

/** A conversation whose hosted tools are functions, and which functions those are. */
export interface OfferedTools {
  conversation: Conversation;
  /** By the function's name. */
  tools: ReadonlyMap<string, HostedTool>;
  losses: Loss[];
}

const text = (description: string) => ({ type: 'string', description });
const object = (name: string, property: unknown) => ({ type: 'object', properties: { [name]: property }, required: [name], additionalProperties: false });

const declarations: Readonly<Record<HostedKind, Pick<Tool, 'description' | 'parameters'>>> = {
  web_search: {
    description:
      'Searches the web and returns pages with their addresses and what they say. Cite each page that the answer leans on as a Markdown link with its exact address.',
    parameters: object('query', text('What to search for, in a few words.')),
  },
  web_fetch: {
    description: 'Fetches one page of the web as text. Only addresses that the user gave, or that a search or a fetch returned, can be fetched.',
    parameters: object('url', text('The whole address of the page.')),
  },
};

/** null: it offers none that `runs` says the gateway may run. `isNative`: the upstream runs this one itself. */
export function offerHostedTools(
  conversation: Conversation,
  codec: HostedToolsCodec,
  { isNative, runs }: { isNative(tool: Tool): boolean; runs(kind: HostedKind): boolean },
): OfferedTools | null {
  const taken = new Set(conversation.tools.filter(({ type }) => type !== 'server').map(({ name }) => name));
  const tools = new Map<string, HostedTool>();
  const names = new Map<string, string>();
  const losses = new Losses();
  const offered = conversation.tools.flatMap((tool): Tool[] => {
    const hosted = tool.type === 'server' && !isNative(tool) ? codec.read(tool) : null;
    if (!hosted || !runs(hosted.kind)) return [tool];
    const name = names.get(tool.name) ?? freeName(hosted.kind, taken);
    if (tools.has(name)) return [];
    taken.add(name);
    names.set(tool.name, name);
    tools.set(name, hosted);
    if (hosted.kind === 'web_search') losses.add('tools.web_search', 'emulated', 'The gateway itself searched the web, since the upstream does not.');
    else losses.add('tools.web_fetch', 'emulated', 'The gateway itself fetched pages, since the upstream does not.');
    return [{ type: 'function', name, ...declarations[hosted.kind] }];
  });
  if (tools.size === 0) return null;
  const toolChoice = conversation.toolChoice && renamed(conversation.toolChoice, names);
  return { conversation: { ...conversation, tools: offered, ...(toolChoice && { toolChoice }) }, tools, losses: losses.list };
}

/** The caller may have a function of its own under the usual name. */
function freeName(kind: HostedKind, taken: ReadonlySet<string>): string {
  let name: string = kind;
  for (let at = 2; taken.has(name); at++) name = `${kind}_${at}`;
  return name;
}

function renamed(choice: ToolChoice, names: ReadonlyMap<string, string>): ToolChoice {
  if (choice.type === 'tool') return { type: 'tool', name: names.get(choice.name) ?? choice.name };
  return choice.allowed ? { ...choice, allowed: choice.allowed.map((name) => names.get(name) ?? name) } : choice;
}
