/** Judges the examples that rows carry. */
import { findRefusals, type RefusedBy } from './judge.ts';
import { createMemory, trustingMemory } from './memory.ts';
import type { Example, VendorRule } from './rule.ts';

/** All refusals of an example of this row. */
export const judgeExample = ({ protocol }: VendorRule, { body, modelId = '', headers = {}, path = '/', newcomer }: Example): RefusedBy[] =>
  findRefusals(protocol, { body, modelId, headers, path }, newcomer ? createMemory() : trustingMemory);
