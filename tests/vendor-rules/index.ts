/** What vendors refuse. */
export { findRefusals, type Judged, judgeRequest, type RefusedBy, renderFor } from './judge.ts';
export { createMemory, type KeepingMemory, trustingMemory } from './memory.ts';
export type { Rendered } from './render.ts';
export type { Example, Refusal, Vendor, VendorMemory, VendorRequest, VendorRule } from './rule.ts';
export { rules } from './rules/index.ts';
export { accountOf, bareModel, vendorOf } from './vendor.ts';
