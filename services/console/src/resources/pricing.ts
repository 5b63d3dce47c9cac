/** Prices of models: decimal strings outside, whole micro-units inside. A record is named after its model unless the admin names it. */
import { type Pricing, pricingReplySchema, pricingRequestFields, pricingRequestSchema, showPricing } from '@model-gateway/contracts';
import type { PricingDocument } from '@model-gateway/storage';
import type { Resource } from './resource.ts';

export const pricing: Resource<PricingDocument, Pricing> = {
  path: 'pricing',
  noun: 'price',
  entityType: 'model_pricing',
  sortable: ['name', 'created_at', 'updated_at', 'model'],
  filters: { model: 'model' },
  schema: pricingRequestSchema,
  // A refined schema cannot be made partial; its fields can.
  partial: pricingRequestFields.partial(),
  answer: pricingReplySchema,
  reader: (reader) => reader.pricing,
  writer: (writer) => writer.pricing,
  toInput: (document) => ({ ...showPricing(document) }),
  toReply: (document) => ({ ...showPricing(document) }),
  fill: (fields) => ({ ...fields, name: fields['name'] ?? fields['model'] }),
  check: ({ model }) =>
    /[\p{Cc}\p{Cs}]/u.test(model) || model.trim() !== model ? [{ field: 'model', message: 'must have no control characters and no space at either end' }] : [],
  build: async (input) => ({ document: input }),
  checkRemoval: async () => undefined,
  toExport: ({ document }) => ({ ...showPricing(document) }),
};
