/**
 * Fits a conversation's tools to what an upstream takes, and the reply's calls back to what the caller declared: names that are illegal there,
 * and free-text tools (apply_patch and the like) where only functions exist. A request that needs neither pays two passes over its names.
 */
import type { Loss } from '@model-gateway/contracts';
import type { Conversation, Part, Tool, ToolChoice } from '../chat/conversation.ts';
import type { ChatEvent } from '../chat/event.ts';
import { Losses } from './losses.ts';
import { own } from './read.ts';
import { legalToolName, plainToolName } from './tool-names.ts';
import { freeTextArgument, InputUnwrapper } from './unwrap-input.ts';

/** What an upstream takes of tools. */
export interface ToolRules {
  /** Names it accepts; must take letters, digits and `_`. */
  name: RegExp;
  /** Whether it knows tools that take free text. */
  freeText: boolean;
  /** The protocol whose vendor's own tools it knows; absent: none. */
  vendorTools?: string;
  /** Whether it runs this search or fetch by itself; absent: those of `vendorTools`. Upstreams of a protocol need not run what its vendor does. */
  runs?(tool: Tool): boolean;
}

export const runsItself = (rules: ToolRules | undefined, tool: Tool): boolean =>
  rules?.runs ? rules.runs(tool) : rules?.vendorTools !== undefined && tool.rawProtocol === rules.vendorTools;

/** For upstreams that say nothing else. */
export const plainToolRules: ToolRules = { name: plainToolName, freeText: false };

/** A conversation fitted to the upstream's tools, and the mapping for calls of the reply. */
export interface BridgedTools {
  conversation: Conversation;
  losses: Loss[];
  /** For the reply; one bridge serves one reply. */
  bridge: ToolBridge;
}

/** null when the conversation's tools are all taken as they are. Never changes `conversation`. */
export function bridgeTools(conversation: Conversation, rules: ToolRules): BridgedTools | null {
  const isOdd = (name: string, custom: boolean | undefined): boolean => !rules.name.test(name) || (custom === true && !rules.freeText);
  const odd =
    conversation.tools.some((tool) => (tool.type === 'server' ? isForeign(tool, rules) : isOdd(tool.name, tool.type === 'custom'))) ||
    conversation.turns.some((turn) => turn.parts.some((part) => part.type === 'tool-call' && isOdd(part.name, part.custom))) ||
    choosesLost(conversation, rules);
  if (!odd) return null;
  const losses = new Losses();
  const fitter = new Fitter(rules, losses);
  const tools = conversation.tools.map((tool) => fitter.tool(tool));
  const turns = conversation.turns.map((turn) => ({ ...turn, parts: turn.parts.map((part) => fitter.part(part)) }));
  const choice = choosesLost(conversation, rules) ? fitter.freeChoice() : conversation.toolChoice;
  const toolChoice = choice && fitter.choice(choice);
  return { conversation: { ...conversation, tools, turns, ...(toolChoice && { toolChoice }) }, losses: losses.list, bridge: fitter.bridge };
}

/** Whether the one tool that must be called is another vendor's own, which is not sent: the choice alone would be refused. */
function choosesLost({ toolChoice, tools }: Conversation, rules: ToolRules): boolean {
  if (toolChoice?.type !== 'tool') return false;
  const meant = tools.filter((tool) => tool.name === toolChoice.name);
  return meant.length > 0 && meant.every((tool) => tool.type === 'server' && !tool.asFunction && tool.rawProtocol !== rules.vendorTools);
}

/** Whether the caller runs the tool and this upstream's models need its declaration as a function. */
const isForeign = (tool: Tool, rules: ToolRules): boolean => tool.asFunction !== undefined && tool.rawProtocol !== rules.vendorTools;

class Fitter {
  readonly bridge = new ToolBridge();
  readonly #rules: ToolRules;
  readonly #losses: Losses;

  constructor(rules: ToolRules, losses: Losses) {
    this.#rules = rules;
    this.#losses = losses;
  }

  tool(tool: Tool): Tool {
    if (tool.type === 'server') {
      if (!tool.asFunction || !isForeign(tool, this.#rules)) return tool;
      this.#losses.add('tools.client', 'emulated', 'A tool that only its vendor’s models know was sent as a function.');
      const { raw: _raw, rawProtocol: _protocol, asFunction, ...rest } = tool;
      return { ...rest, ...asFunction, type: 'function', name: this.#name(tool.name) };
    }
    const name = this.#name(tool.name);
    if (tool.type !== 'custom' || this.#rules.freeText) return name === tool.name ? tool : { ...tool, name };
    this.#losses.add('tools.custom', 'emulated', `A free-text tool became a function with one text, ${freeTextArgument}.`);
    this.bridge.freeText.add(name);
    return freeTextFunction({ ...tool, name });
  }

  part(part: Part): Part {
    if (part.type === 'tool-result') {
      const name = part.name === undefined ? undefined : this.#name(part.name);
      if (name === part.name && (!part.custom || this.#rules.freeText)) return part;
      const { custom, ...rest } = part;
      return { ...rest, ...(name !== undefined && { name }), ...(custom && this.#rules.freeText && { custom }) };
    }
    if (part.type !== 'tool-call') return part;
    const name = this.#name(part.name);
    if (!part.custom || this.#rules.freeText) return name === part.name ? part : { ...part, name };
    const { custom: _, ...rest } = part;
    return { ...rest, name, arguments: JSON.stringify({ [freeTextArgument]: part.arguments }) };
  }

  freeChoice(): ToolChoice {
    this.#losses.add('tool_choice', 'downgraded', 'The tool that was to be called is another vendor’s own: the model is free to choose.');
    return { type: 'auto' };
  }

  choice(choice: ToolChoice): ToolChoice {
    if (choice.type === 'tool') return { type: 'tool', name: this.#name(choice.name) };
    return choice.allowed ? { ...choice, allowed: choice.allowed.map((name) => this.#name(name)) } : choice;
  }

  #name(name: string): string {
    const legal = legalToolName(name, this.#rules.name);
    if (legal === name) return name;
    this.#losses.add('tools.name', 'renamed', 'Tool names that this upstream refuses were replaced, and are put back in its calls.');
    this.bridge.names.set(legal, name);
    return legal;
  }
}

/** A free-text tool as the nearest function; its grammar, which a function cannot enforce, is described in text. */
function freeTextFunction(tool: Tool): Tool {
  const { raw: _raw, rawProtocol: _protocol, ...rest } = tool;
  const format = own(tool.raw, 'format') ?? own(own(tool.raw, 'custom'), 'format');
  const grammar = own(format, 'grammar') ?? format;
  const definition = own(grammar, 'definition');
  const syntax = own(grammar, 'syntax');
  const words =
    typeof definition === 'string'
      ? `\`${freeTextArgument}\` must be exactly one text of this grammar${typeof syntax === 'string' ? ` (${syntax})` : ''}, raw and complete:\n${definition}`
      : undefined;
  const description = [tool.description, words].filter((text) => text !== undefined && text !== '').join('\n\n');
  return {
    ...rest,
    type: 'function',
    ...(description !== '' && { description }),
    parameters: {
      type: 'object',
      properties: { [freeTextArgument]: { type: 'string', description: 'The whole text, as it is.' } },
      required: [freeTextArgument],
      additionalProperties: false,
    },
  };
}

/** Gives the calls of one reply the names and the kind that the caller knows. */
export class ToolBridge {
  /** The caller's name by the one that was sent. */
  readonly names = new Map<string, string>();
  /** Names, as sent, of functions that stand for free-text tools. */
  readonly freeText = new Set<string>();
  readonly #open = new Map<number, InputUnwrapper>();

  restore(events: readonly ChatEvent[]): ChatEvent[] {
    return events.flatMap((event) => this.#restore(event));
  }

  #restore(event: ChatEvent): ChatEvent | ChatEvent[] {
    if (event.type === 'block-start' && event.block.type === 'tool-call') {
      const { block, index } = event;
      const custom = !block.custom && this.freeText.has(block.name);
      if (custom) this.#open.set(index, new InputUnwrapper());
      return { ...event, block: { ...block, name: this.names.get(block.name) ?? block.name, ...(custom && { custom }) } };
    }
    const unwrapper = event.type === 'arguments-delta' || event.type === 'block-end' ? this.#open.get(event.index) : undefined;
    if (!unwrapper) return event;
    if (event.type === 'arguments-delta') return withText(event.index, unwrapper.push(event.text));
    this.#open.delete((event as { index: number }).index);
    return [...withText((event as { index: number }).index, unwrapper.finish()), event];
  }
}

const withText = (index: number, text: string): ChatEvent[] => (text === '' ? [] : [{ type: 'arguments-delta', index, text }]);
