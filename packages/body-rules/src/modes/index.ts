/** The modes by their names; the compiler demands that all are there. */
import type { BodyRuleMode } from '@model-gateway/contracts';
import type { Mode } from '../mode.ts';
import { addIfAbsent } from './add-if-absent.ts';
import { append } from './append.ts';
import { appendIfMissing } from './append-if-missing.ts';
import { filterContentTypes } from './filter-content-types.ts';
import { filterTools } from './filter-tools.ts';
import { injectSystemPrompt } from './inject-system-prompt.ts';
import { overwrite } from './overwrite.ts';
import { remove } from './remove.ts';
import { removeMatching } from './remove-matching.ts';
import { stripLinesMode } from './strip-lines.ts';
import { switchRoute } from './switch-route.ts';

export const modes: Readonly<Record<BodyRuleMode, Mode>> = {
  overwrite,
  remove,
  'add-if-absent': addIfAbsent,
  append,
  'append-if-missing': appendIfMissing,
  'remove-matching': removeMatching,
  'strip-lines': stripLinesMode,
  'filter-content-types': filterContentTypes,
  'filter-tools': filterTools,
  'inject-system-prompt': injectSystemPrompt,
  'switch-route': switchRoute,
};
