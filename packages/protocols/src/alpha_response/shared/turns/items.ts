/** Items of stored turns: their ids, and the form in which lists show them. */
import { invalid } from '../../../kit/fail.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../../kit/read.ts';

export type MintId = (prefix: string) => string;

/** The vendor's own prefixes of item ids, by type. */
const prefixes: ReadonlyMap<string, string> = new Map([
  ['message', 'msg_'],
  ['reasoning', 'rs_'],
  ['function_call', 'fc_'],
  ['function_call_output', 'fco_'],
  ['custom_tool_call', 'ctc_'],
  ['custom_tool_call_output', 'ctco_'],
  ['local_shell_call', 'lsh_'],
  ['local_shell_call_output', 'lsho_'],
  ['shell_call', 'sh_'],
  ['shell_call_output', 'sho_'],
  ['apply_patch_call', 'apc_'],
  ['apply_patch_call_output', 'apco_'],
  ['computer_call', 'cu_'],
  ['computer_call_output', 'cuo_'],
  ['tool_search_call', 'tsc_'],
  ['tool_search_output', 'tso_'],
  ['web_search_call', 'ws_'],
  ['file_search_call', 'fs_'],
  ['code_interpreter_call', 'ci_'],
  ['image_generation_call', 'ig_'],
  ['mcp_call', 'mcp_'],
  ['mcp_list_tools', 'mcpl_'],
  ['mcp_approval_request', 'mcpr_'],
  ['mcp_approval_response', 'mcpa_'],
  ['compaction', 'cmp_'],
]);

/** Longer ids are the caller's mistake, or nothing that a list could name. */
const maxIdLength = 256;

/** What an item is; messages may leave their type out. */
export const typeOf = (item: unknown): string | undefined => asString(own(item, 'type')) ?? (own(item, 'role') === undefined ? undefined : 'message');

/** An item without other keys is a reference. */
export const referenceKeys = ['id', 'type'] as const;

/** The id that an item names instead of being one; the type may be left out. */
export function referenceOf(item: unknown): string | undefined {
  const id = asString(own(item, 'id'));
  if (id === undefined || id === '') return undefined;
  const type = typeOf(item);
  return type === 'item_reference' || (type === undefined && Object.keys(item as object).every((key) => referenceKeys.some((one) => one === key)))
    ? id
    : undefined;
}

/** The items of `input`; undefined for what is neither a text nor a list. A text is a message. */
export function listInput(body: unknown): unknown[] | undefined {
  const input = own(body, 'input') ?? [];
  return asArray(typeof input === 'string' ? [input] : input)?.map((item) =>
    typeof item === 'string' ? { type: 'message', role: 'user', content: item } : item,
  );
}

/** The same items, each with an id of its own: minted where there is none, or one that another item has. */
export function withIds(items: readonly unknown[], mintId: MintId): JsonObject[] {
  const known = new Set<string>();
  return items.map((value, index) => {
    const item = asObject(value);
    if (!item) throw invalid(`input.${index}`, `input.${index} must be an object`);
    const given = asString(own(item, 'id'));
    const kept = given !== undefined && given !== '' && given.length <= maxIdLength && !known.has(given);
    const type = typeOf(item);
    const id = kept ? given : mintId(prefixes.get(type ?? '') ?? 'item_');
    known.add(id);
    return kept ? item : { ...item, id };
  });
}

/** Ids that the gateway minted: no caller's, and nothing that an upstream has ever stored. */
export const isMinted = (id: unknown): boolean => typeof id === 'string' && /^[a-z]{2,5}_[0-9A-Za-z]{24}$/.test(id);

/** An item as lists show it: a message's content is a list of parts, and it has a status. */
export function listedItem(value: unknown): unknown {
  const item = asObject(value);
  if (!item || typeOf(item) !== 'message') return value;
  const content = own(item, 'content');
  const role = asString(own(item, 'role'));
  const part = role === 'assistant' ? { type: 'output_text', text: content, annotations: [], logprobs: [] } : { type: 'input_text', text: content };
  return { ...item, type: 'message', status: own(item, 'status') ?? 'completed', ...(typeof content === 'string' && { content: [part] }) };
}
