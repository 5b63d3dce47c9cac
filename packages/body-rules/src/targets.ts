/** Paths that rules write to. */
import type { BodyRule } from '@model-gateway/contracts';
import { type Path, readPath } from './path.ts';
import { RuleError } from './rule-error.ts';

/** Throws RuleError. `stream` cannot be changed: the upstream's reply must have the framing that the caller expects and the gateway parses. */
export function readTarget({ path }: BodyRule): Path {
  if (!path) throw new RuleError('path', 'is required');
  const target = readPath(path, 'path');
  if (target[0] === 'stream') throw new RuleError('path', 'stream belongs to the gateway: it follows what the caller asked for');
  if (target[0] === '*' && target.length === 1) throw new RuleError('path', '* alone means the whole body: name what is to be changed');
  return target;
}
