import { findFamily, type ModelFamily } from '@model-gateway/model-catalog';
import type { Target } from '../contract/index.ts';

/** What is known of the target's model. Routes carry it; only bare targets (probes, tests) are looked up here. */
export const familyOf = (target: Target): ModelFamily => target.family ?? findFamily(target.upstreamModelId, target.modelId);
