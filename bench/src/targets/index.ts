/** Every target by name. */
import { startDist, startRaw, startRawOne, startRawProbed, startRawTwo } from './floors.ts';
import {
  startDataPlane,
  startEmbedded,
  startEmbeddedProbed,
  startEmbeddedStored,
  startFew,
  startManyKeys,
  startManyStreams,
  startSplit,
  startSplitStored,
  startWorkersOne,
  startWorkersTwo,
} from './gateway.ts';
import { startLlms, startPortkey, startTensorzero } from './peers.ts';
import type { StartTarget, TargetName } from './target.ts';

export const starters: Record<Exclude<TargetName, 'direct'>, StartTarget> = {
  raw: startRaw,
  dist: startDist,
  embedded: startEmbedded,
  split: startSplit,
  'data-plane': startDataPlane,
  portkey: startPortkey,
  llms: startLlms,
  tensorzero: startTensorzero,
  'embedded-probed': startEmbeddedProbed,
  'raw-probed': startRawProbed,
  'embedded-stored': startEmbeddedStored,
  'split-stored': startSplitStored,
  'raw-one': startRawOne,
  'raw-two': startRawTwo,
  'workers-one': startWorkersOne,
  'workers-two': startWorkersTwo,
  few: startFew,
  'many-keys': startManyKeys,
  'many-streams': startManyStreams,
};
