/**
 * The coding agent of this protocol keeps the list of models that it fetched, and fetches it again when a reply carries another tag of it
 * (`x-models-etag`, `codex-rs/codex-api/src/sse/responses.rs` of openai/codex). Nobody else looks for the header, so nobody else gets it.
 */
import type { ClientAdapter } from '../../contract/index.ts';

/** Whether the caller is that agent, in any of its forms (`codex_cli_rs`, `codex_exec`, `codex_vscode`). */
export const isAgent = (headers: Readonly<Record<string, string | undefined>>): boolean => headers['originator']?.startsWith('codex') ?? false;

export const modelsTagHeader: NonNullable<ClientAdapter['modelsTagHeader']> = (headers) => (isAgent(headers) ? 'x-models-etag' : null);
