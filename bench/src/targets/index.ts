/** Every target by name. */
import { startDist, startRaw, startRawProbed } from './floors.ts';
import { startDataPlane, startEmbedded, startEmbeddedProbed, startEmbeddedStored, startSplit, startSplitStored } from './gateway.ts';
import { startLlms, startPortkey } from './peers.ts';
import type { StartTarget, TargetName } from './target.ts';

export const starters: Record<Exclude<TargetName, 'direct'>, StartTarget> = {
  raw: startRaw,
  dist: startDist,
  embedded: startEmbedded,
  split: startSplit,
  'data-plane': startDataPlane,
  portkey: startPortkey,
  llms: startLlms,
  'embedded-probed': startEmbeddedProbed,
  'raw-probed': startRawProbed,
  'embedded-stored': startEmbeddedStored,
  'split-stored': startSplitStored,
};
