/** The messages vendor's feature flags that this host knows; it answers an unknown one with a 400, and wants them in the body. */
import { allowFlags, type Flags } from '../../beta/index.ts';
import type { Target } from '../../contract/index.ts';

/** The host's own list ("Anthropic Claude Messages API", user guide, 2025-12). */
const knownFlags: ReadonlySet<string> = new Set([
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'token-efficient-tools-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'dev-full-thinking-2025-05-14',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
  'compact-2026-01-12',
]);

/** `extra_config.beta_flags` takes the place of the host's own. */
export const allowedFlags = (wanted: readonly string[], target: Target): Flags =>
  allowFlags([...new Set(wanted.map((flag) => flag.trim()).filter((flag) => flag !== ''))], target, knownFlags);
