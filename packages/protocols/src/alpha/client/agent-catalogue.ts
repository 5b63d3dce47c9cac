/**
 * What one coding agent wants to know of each model, beside the usual list: thinking levels, window, and which of its tools to offer. Fields and
 * words are those of its own reader (`codex-rs/protocol/src/openai_models.rs` of openai/codex): one that is missing or unknown there makes it
 * throw the whole list away, so only words that all of its versions know are used.
 */
import type { Effort, ModelFamily } from '@model-gateway/model-catalog';
import type { ListedModel } from '../../contract/index.ts';

/** Levels that every version of the agent knows. */
const levels: Readonly<Partial<Record<Effort, string>>> = {
  minimal: 'Answers at once',
  low: 'Fast, with little reasoning',
  medium: 'Balances speed and depth',
  high: 'Reasons longer about hard problems',
  xhigh: 'Reasons as long as it takes',
};
/** A model that takes a budget of tokens is given one for each of these. */
const usualLevels: readonly Effort[] = ['low', 'medium', 'high'];

/** Base instructions that the agent uses for a model it has none for. They describe what its tools expect; it sends everything else itself. */
const baseInstructions = [
  "You are a coding agent that runs in a terminal on the user's computer. Work on the user's task until it is done, then report in a few sentences.",
  '',
  '- Read the files that matter before you change them, and follow the conventions you find, including instructions in AGENTS.md files whose folder holds the file.',
  '- Look for files and text with `rg` where it is installed.',
  '- Change files with the apply_patch tool. A patch begins with `*** Begin Patch` and ends with `*** End Patch`; between them stand sections `*** Add File: PATH`, `*** Update File: PATH` or `*** Delete File: PATH`, with lines that begin with a space, `+` or `-`, and `@@` before each changed place.',
  '- Keep changes to what was asked, fix causes rather than symptoms, and do not undo changes that are not yours.',
  '- Run the checks that the project has for what you changed. Say so when you could not.',
  '- Commands may be sandboxed or need approval. Never run destructive ones that were not asked for.',
  '- For longer tasks keep a short plan with the update_plan tool, one step in progress at a time.',
].join('\n');

/** One entry of `models[]`. */
export function catalogueEntry({ name, family }: ListedModel, place: number): Record<string, unknown> {
  const efforts = family ? effortsOf(family) : [];
  return {
    slug: name,
    display_name: name,
    description: null,
    // A model without the middle one is left to its vendor's own default: the first would be its least.
    default_reasoning_level: efforts.includes('medium') ? 'medium' : null,
    supported_reasoning_levels: efforts.map((effort) => ({ effort, description: levels[effort] })),
    shell_type: 'default',
    visibility: 'list',
    supported_in_api: true,
    priority: place,
    upgrade: null,
    base_instructions: baseInstructions,
    supports_reasoning_summaries: efforts.length > 0,
    default_reasoning_summary: 'auto',
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: family?.tools === false ? null : 'freeform',
    web_search_tool_type: 'text',
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    supports_parallel_tool_calls: family?.tools !== false,
    supports_image_detail_original: false,
    // It compacts a conversation near the end of this, and its own catalogue says what a prompt may fill.
    context_window: family?.input ?? null,
    max_context_window: family?.input ?? null,
    auto_compact_token_limit: null,
    effective_context_window_percent: 95,
    experimental_supported_tools: [],
    input_modalities: family?.vision === false ? ['text'] : ['text', 'image'],
    supports_search_tool: false,
  };
}

function effortsOf({ thinking }: ModelFamily): readonly Effort[] {
  if (thinking.style === 'none') return [];
  const known = thinking.efforts.filter((effort) => levels[effort] !== undefined);
  return known.length > 0 ? known : usualLevels;
}
