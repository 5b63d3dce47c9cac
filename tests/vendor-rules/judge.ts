/** Judges a request as the vendor would, and says no as it would. */
import type { ProtocolId } from '@model-gateway/contracts';
import { type Json, objectOf } from './read.ts';
import { type Rendered, renderRefusal } from './render.ts';
import type { Refusal, Vendor, VendorMemory, VendorRequest, VendorRule } from './rule.ts';
import { rules } from './rules/index.ts';
import { accountOf, bareModel, headerOf, vendorOf } from './vendor.ts';

export interface Judged extends Omit<VendorRequest, 'account'> {
  /** Overrides the vendor that the model's id implies. */
  vendor?: Vendor;
}

/** A refusal, and the row of the table that caused it. */
export interface RefusedBy extends Refusal {
  rule: string;
}

const applies = (rule: VendorRule, protocol: ProtocolId, vendor: Vendor, model: string, host: string): boolean =>
  rule.protocol === protocol &&
  (rule.vendors ? rule.vendors.includes(vendor) : vendor !== 'other') &&
  (rule.models?.test(model) ?? true) &&
  !(rule.ownAddress && /^(?:127\.|localhost)/.test(host));

/** All that is wrong, in the order of the rows. */
export function findRefusals(protocol: ProtocolId, judged: Judged, memory: VendorMemory): RefusedBy[] {
  const vendor = judged.vendor ?? vendorOf(protocol, judged.modelId);
  const model = bareModel(judged.modelId);
  const request = { ...judged, modelId: model, account: accountOf(protocol, judged) };
  return rules
    .filter((rule) => applies(rule, protocol, vendor, model, headerOf(judged.headers, 'host')))
    .flatMap((rule) => {
      const refusal = rule.check(request, memory);
      return refusal ? [{ ...refusal, rule: rule.id }] : [];
    });
}

/** What the vendor answers instead of a reply; null: it takes the request. */
export const judgeRequest = (protocol: ProtocolId, judged: Judged, memory: VendorMemory): RefusedBy | null => findRefusals(protocol, judged, memory)[0] ?? null;

/** The refusal as that vendor writes it. */
export const renderFor = (protocol: ProtocolId, judged: Judged, refusal: Refusal): Rendered =>
  renderRefusal(protocol, judged.vendor ?? vendorOf(protocol, judged.modelId), refusal, judged);

/** A body as an object, whatever it is. */
export const bodyOf = (text: string): Json => {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
};
